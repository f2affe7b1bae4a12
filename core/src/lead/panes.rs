//! Panes of tmux: which of them belong to a run, and to nobody else.
//!
//! A pane that okstra opens is tagged with four user options. Formats of tmux look an option up in
//! the window, the session and the server as well, where a person may have set one of the same
//! name; so one of the four is the pane's own id, and a tag whose id is another's is none.
//!
//! Claude Code opens the panes of teammates itself and tags nothing. Such a pane is known by the
//! command it was started with, which names the agent, and by the id in the team's config: an id
//! alone says nothing, since every server counts from `%0`.

use std::fmt::Write as _;

use serde::Serialize;

use super::team::{self, Team};
use super::{LeadFacts, LeadRefusal};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::printable::printable;

/// The panes of a server, as they were listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listing {
    /// The server: the path or the name of its socket.
    pub server: String,
    /// Whether it is the one that the caller itself runs in.
    pub own: bool,
    /// Whether it is certain that the team's panes are on it: it is named after the leading
    /// process, or a person has named it.
    pub of_team: bool,
    /// What begins each line that the host has asked for. Other lines belong to texts with line
    /// breaks.
    pub mark: String,
    /// Lines of `<mark>|P|<id>|<pid>|<dead>|<@okstra_pane>|<@okstra_role>|<@okstra_session>|`
    /// `<@okstra_run>|<title>` and of `<mark>|C|<id>|<bytes>|<command it was started with>`.
    pub text: String,
}

decode!(optional Listing { server, own, of_team, mark, text });

/// What a pane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum PaneRole {
    /// An agent works in it.
    Worker,
    /// It shows what a worker writes.
    Trace,
}

/// A pane of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pane {
    /// The server that it is on.
    pub server: String,
    /// Its id on that server.
    pub pane_id: String,
    /// The process it was started with: what tells it from a later pane of the same id.
    pub pid: u32,
    /// Its title, without control characters.
    pub title: String,
    /// What it is for.
    pub role: PaneRole,
    /// Whether its process is gone and tmux keeps it on the screen.
    pub dead: bool,
    /// The teammate that works in it.
    pub teammate: Option<String>,
}

/// Panes to list or to close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PanesAnswer {
    /// The panes, by server and id.
    pub panes: Vec<Pane>,
}

/// A pane as it was listed.
pub(super) struct Seen<'l> {
    pub(super) listing: &'l Listing,
    pub(super) id: &'l str,
    pub(super) pid: u32,
    pub(super) dead: bool,
    role: &'l str,
    session: &'l str,
    run: &'l str,
    title: &'l str,
    pub(super) command: Option<&'l str>,
}

/// The panes of all servers that were listed.
pub(super) fn seen(servers: &[Listing]) -> Vec<Seen<'_>> {
    let mut all: Vec<Seen<'_>> = Vec::new();
    for listing in servers {
        let from = all.len();
        let lines = listing.text.lines().filter_map(|line| {
            line.strip_prefix(listing.mark.as_str())?.strip_prefix('|')?.split_once('|')
        });
        let mut commands = Vec::new();
        for (kind, rest) in lines {
            match kind {
                "P" => all.extend(pane(listing, rest)),
                "C" => commands.extend(command(rest)),
                _ => {}
            }
        }
        for pane in all.iter_mut().skip(from) {
            pane.command = commands.iter().find(|(id, _)| *id == pane.id).map(|(_, text)| *text);
        }
    }
    // tmux lists them as they are laid out.
    let place =
        |pane: &Seen<'_>| servers.iter().position(|server| std::ptr::eq(server, pane.listing));
    all.sort_by_key(|pane| (place(pane), pane.id.trim_start_matches('%').parse::<u64>().ok()));
    all
}

fn pane<'l>(listing: &'l Listing, line: &'l str) -> Option<Seen<'l>> {
    let mut fields = line.splitn(8, '|');
    let mut next = || fields.next();
    let id = next().filter(|id| is_pane_id(id))?;
    let pid = next()?.parse().ok()?;
    let dead = next()? == "1";
    let tagged = next()? == id;
    let mut tag = || next().map(|value| if tagged { value } else { "" });
    let (role, session, run) = (tag()?, tag()?, tag()?);
    let title = next()?;
    Some(Seen { listing, id, pid, dead, role, session, run, title, command: None })
}

/// The command of a pane. One that has line breaks is not as long as tmux says; it proves nothing.
fn command(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.split_once('|')?;
    let (bytes, text) = rest.split_once('|')?;
    (bytes.parse() == Ok(text.len())).then_some((id, text))
}

/// Whether a text is the id of a pane: `%` and digits.
pub(super) fn is_pane_id(id: &str) -> bool {
    id.strip_prefix('%').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

impl Seen<'_> {
    /// Whether it was started as an agent.
    pub(super) fn is_agent(&self, agent_id: &str) -> bool {
        let Some(command) = self.command.filter(|_| !agent_id.is_empty()) else {
            return false;
        };
        command.split("--agent-id").skip(1).any(|rest| {
            let value = rest.trim_start_matches([' ', '=', '\\', '\'', '"']);
            value.len() < rest.len()
                && value.strip_prefix(agent_id).is_some_and(|after| {
                    after.is_empty() || after.starts_with([' ', '\\', '\'', '"', ';'])
                })
        })
    }

    fn is_callers(&self, facts: &LeadFacts) -> bool {
        self.listing.own && facts.caller_pane.as_deref() == Some(self.id)
    }

    fn shown(&self, role: PaneRole, teammate: Option<String>) -> Pane {
        Pane {
            server: self.listing.server.clone(),
            pane_id: self.id.to_owned(),
            pid: self.pid,
            title: printable(self.title).into_owned(),
            role,
            dead: self.dead,
            teammate,
        }
    }
}

/// The panes of a run that are left: those tagged for it and those of its teammates. Never the
/// lead's, nor the one that asks, nor a pane that belongs to another run.
pub fn list_panes(facts: &LeadFacts) -> Result<PanesAnswer, OkstraError> {
    let team = team::find(facts)?;
    Ok(PanesAnswer { panes: of_run(facts, team.as_ref()) })
}

pub(super) fn of_run(facts: &LeadFacts, team: Option<&Team>) -> Vec<Pane> {
    let run = tag_value(&facts.run);
    let mut panes = Vec::new();
    for seen in seen(&facts.servers) {
        if seen.is_callers(facts) {
            continue;
        }
        let members = team.map(|team| team.members.as_slice()).unwrap_or_default();
        let teammate = members
            .iter()
            .filter(|member| !member.is_lead)
            .find(|member| member.pane == seen.id && seen.is_agent(&member.agent_id))
            .map(|member| member.name.clone());
        let role = match seen.role {
            "worker" if seen.run == run => PaneRole::Worker,
            "trace" if seen.run == run => PaneRole::Trace,
            "" if teammate.is_some() => PaneRole::Worker,
            _ => continue,
        };
        panes.push(seen.shown(role, teammate));
    }
    panes
}

/// The trace panes of a session, of whatever run: what goes when the session ends.
pub fn reap_panes(facts: &LeadFacts) -> Result<PanesAnswer, OkstraError> {
    let Some(session) = facts.lead_session.as_deref().filter(|session| !session.is_empty()) else {
        return Err(LeadRefusal::NoLeadSession { run: facts.run.clone() }.into());
    };
    let session = tag_value(session);
    let panes = seen(&facts.servers)
        .iter()
        .filter(|seen| seen.role == "trace" && seen.session == session && !seen.is_callers(facts))
        .map(|seen| seen.shown(PaneRole::Trace, None))
        .collect();
    Ok(PanesAnswer { panes })
}

/// A pane to tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct TagRequest {
    /// The real absolute path of the run's folder.
    pub run: String,
    /// `worker`, `trace` or `lead`.
    pub role: String,
    /// The session that the pane belongs to, where it is known.
    pub session: Option<String>,
    /// The pane's id.
    pub pane_id: String,
}

decode!(optional TagRequest { run, role, session, pane_id });

/// The user options that tag a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PaneTags {
    /// Name and value of each option.
    pub options: Vec<(String, String)>,
}

/// The options that tag a pane as one of a run.
pub fn pane_tags(request: &TagRequest) -> Result<PaneTags, OkstraError> {
    let bad = |reason: &str| OkstraError::BadOptions { reason: reason.to_owned() };
    if !matches!(request.role.as_str(), "worker" | "trace" | "lead") {
        return Err(bad("a role is worker, trace or lead"));
    }
    if !is_pane_id(&request.pane_id) {
        return Err(bad("the id of a pane is % and a number, such as %3"));
    }
    let session = request.session.as_deref().unwrap_or_default();
    let options = [
        ("@okstra_role", request.role.clone()),
        ("@okstra_session", tag_value(session)),
        ("@okstra_run", tag_value(&request.run)),
        // Last: only with it do the others count.
        ("@okstra_pane", request.pane_id.clone()),
    ];
    let options = options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(PaneTags { options })
}

/// A text as the value of a tag: nothing in it separates fields or means anything to tmux.
fn tag_value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'/'
            | b'.'
            | b'_'
            | b'-'
            | b'~'
            | b'+'
            | b':' => {
                value.push(char::from(byte));
            }
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(value, "={byte:02X}");
            }
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{Listing, TagRequest, list_panes, pane_tags, reap_panes, tag_value};
    use crate::lead::{LeadFacts, TeamFile};

    const RUN: &str = "/p/my project/.okstra/tasks/w/l/runs/implementation/stage-1";

    fn facts(lines: &[String], own: bool) -> LeadFacts {
        LeadFacts {
            run: RUN.to_owned(),
            lead_session: Some(String::from("s-1")),
            caller_pane: Some(String::from("%0")),
            servers: vec![Listing {
                server: String::from("/tmp/tmux"),
                own,
                of_team: false,
                mark: String::from("m"),
                text: lines.join("\n"),
            }],
            teams: vec![TeamFile {
                path: String::from("/c/teams/session-s-1/config.json"),
                text: String::from(
                    r#"{"name":"session-s-1","leadAgentId":"team-lead@session-s-1","leadSessionId":"s-1","members":[
                    {"agentId":"team-lead@session-s-1","name":"team-lead","tmuxPaneId":"leader"},
                    {"agentId":"scout@session-s-1","name":"scout","tmuxPaneId":"%7","backendType":"tmux"}]}"#,
                ),
            }],
            ..LeadFacts::default()
        }
    }

    fn pane(
        id: &str,
        tagged_as: &str,
        role: &str,
        session: &str,
        run: &str,
        title: &str,
    ) -> String {
        format!(
            "m|P|{id}|4{}|0|{tagged_as}|{role}|{session}|{}|{title}",
            id.trim_start_matches('%'),
            tag_value(run)
        )
    }

    fn started(id: &str, command: &str) -> String {
        format!("m|C|{id}|{}|{command}", command.len())
    }

    fn shown(facts: &LeadFacts) -> Vec<String> {
        let panes = list_panes(facts).unwrap().panes;
        panes
            .iter()
            .map(|pane| {
                let teammate = pane.teammate.as_deref().unwrap_or_default();
                format!("{} {} {teammate}", pane.pane_id, pane.title).trim_end().to_owned()
            })
            .collect()
    }

    #[test]
    fn only_what_is_the_runs_is_listed() {
        let other = "/p/my project/.okstra/tasks/w/l/runs/implementation/stage-2";
        let agent = |id: &str| started("%7", &format!("claude --agent-id {id} --agent-name scout"));
        for (what, lines, wanted) in [
            (
                "a worker",
                vec![pane("%1", "%1", "worker", "s-1", RUN, "한글 | a\tb\u{1b}[31m")],
                vec!["%1 한글 | ab[31m"],
            ),
            ("a trace", vec![pane("%1", "%1", "trace", "", RUN, "t")], vec!["%1 t"]),
            ("the lead's", vec![pane("%1", "%1", "lead", "s-1", RUN, "t")], vec![]),
            ("the caller's", vec![pane("%0", "%0", "worker", "s-1", RUN, "t")], vec![]),
            ("another run's", vec![pane("%1", "%1", "worker", "s-1", other, "t")], vec![]),
            (
                "a run whose path begins alike",
                vec![pane("%1", "%1", "worker", "s-1", &format!("{RUN}1"), "t")],
                vec![],
            ),
            (
                "a person's under inherited options",
                vec![pane("%1", "", "worker", "s-1", RUN, "t")],
                vec![],
            ),
            (
                "a person's under copied options",
                vec![pane("%1", "%2", "worker", "s-1", RUN, "t")],
                vec![],
            ),
            ("an unknown role", vec![pane("%1", "%1", "tool", "s-1", RUN, "t")], vec![]),
            (
                "a teammate",
                vec![pane("%7", "", "", "", "", "t"), agent("scout@session-s-1")],
                vec!["%7 t scout"],
            ),
            (
                "a teammate in quotes",
                vec![pane("%7", "", "", "", "", "t"), agent("'scout@session-s-1'")],
                vec!["%7 t scout"],
            ),
            (
                "a teammate tagged for another run",
                vec![pane("%7", "%7", "worker", "s-1", other, "t"), agent("scout@session-s-1")],
                vec![],
            ),
            (
                "a person's with the id of a teammate",
                vec![pane("%7", "", "", "", "", "t"), started("%7", "bash")],
                vec![],
            ),
            (
                "an agent of another session",
                vec![pane("%7", "", "", "", "", "t"), agent("scout@session-s-10")],
                vec![],
            ),
            (
                "a command with line breaks",
                vec![pane("%7", "", "", "", "", "t"), agent("scout@session-s-1") + "\nx"],
                vec!["%7 t scout"],
            ),
            (
                "a command cut off",
                vec![
                    pane("%7", "", "", "", "", "t"),
                    String::from("m|C|%7|90|claude --agent-id scout@session-s-1"),
                ],
                vec![],
            ),
            (
                "a forged line",
                vec![
                    pane("%1", "", "", "", "", "t"),
                    String::from("n|P|%1|41|0|%1|worker|s-1|x|t"),
                ],
                vec![],
            ),
            (
                "no pane at all",
                vec![
                    String::from("m|P|x|41|0|x|worker|s-1|x|t"),
                    String::from("m|P|%1"),
                    String::new(),
                ],
                vec![],
            ),
        ] {
            assert_eq!(shown(&facts(&lines, true)), wanted, "{what}");
        }
    }

    #[test]
    fn the_callers_pane_is_that_of_its_own_server() {
        let lines = [pane("%0", "%0", "trace", "s-1", RUN, "t")];
        assert_eq!(list_panes(&facts(&lines, true)).unwrap().panes.len(), 0);
        assert_eq!(list_panes(&facts(&lines, false)).unwrap().panes.len(), 1);
    }

    #[test]
    fn only_traces_of_the_session_are_reaped() {
        let lines = [
            pane("%1", "%1", "trace", "s-1", "/other", "a"),
            pane("%2", "%2", "worker", "s-1", "/other", "b"),
            pane("%3", "%3", "trace", "s-2", "/other", "c"),
            pane("%4", "", "trace", "s-1", "/other", "d"),
            pane("%5", "%5", "trace", "", "/other", "e"),
        ];
        let panes = reap_panes(&facts(&lines, true)).unwrap().panes;
        assert_eq!(panes.iter().map(|pane| pane.pid).collect::<Vec<_>>(), [41]);
        let nobody = LeadFacts { lead_session: Some(String::new()), ..facts(&lines, true) };
        assert!(reap_panes(&nobody).is_err());
    }

    #[test]
    fn tags_are_plain() {
        let request = TagRequest {
            run: String::from("/p/a b|#{x}\n한"),
            role: String::from("trace"),
            session: None,
            pane_id: String::from("%12"),
        };
        let options = pane_tags(&request).unwrap().options;
        assert_eq!(
            options.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
            ["trace", "", "/p/a=20b=7C=23=7Bx=7D=0A=ED=95=9C", "%12"]
        );
        for bad in ["", "12", "%", "%1;kill-server", "%-1"] {
            assert!(pane_tags(&TagRequest { pane_id: bad.to_owned(), ..request.clone() }).is_err());
        }
        assert!(pane_tags(&TagRequest { role: String::from("x"), ..request }).is_err());
    }
}
