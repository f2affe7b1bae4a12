//! The team of agents that a session leads, as Claude Code writes it down, and what has become of
//! its members.
//!
//! The config names the pane of a member by its id and says nothing about the server. A member is
//! called gone only where the server of the team is known beyond doubt: the one the leading session
//! itself asks from, one that a teammate was seen on, one named after the leading process, or the
//! one a person names. Everything else stays as it is.

use serde::Serialize;
use serde_json::Value;

use super::panes::{Seen, is_pane_id, seen};
use super::{LeadFacts, LeadRefusal};
use crate::decode::decode;
use crate::error::OkstraError;
use crate::json_edit::JsonText;
use crate::json_edit::Segment::{Index, Key};
use crate::stage::{Decision, Effect};

/// A team config on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TeamFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
}

decode!(optional TeamFile { path, text });

/// A team.
pub(super) struct Team {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) members: Vec<Member>,
    json: JsonText,
    raw: String,
}

/// A member as the config has it.
pub(super) struct Member {
    /// Which element of the list it is.
    at: usize,
    pub(super) agent_id: String,
    pub(super) name: String,
    pub(super) pane: String,
    in_process: bool,
    active: Option<bool>,
    pub(super) is_lead: bool,
}

/// What has become of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum MemberState {
    /// It is in a turn.
    Active,
    /// It waits.
    Idle,
    /// It lives in the leading process.
    InProcess,
    /// Its pane is gone, or the process in it.
    Gone,
    /// It cannot be told from here.
    Unknown,
}

/// A member beside the lead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Teammate {
    /// Its name.
    pub name: String,
    /// Its pane, where it has one.
    pub pane_id: Option<String>,
    /// What has become of it.
    pub state: MemberState,
    /// Whether the config calls it active all the same.
    pub stale: bool,
}

/// What was done about a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TeamAnswer {
    /// The name of the team; `null` where the session leads none.
    pub team: Option<String>,
    /// Its config.
    pub config: Option<String>,
    /// Its members beside the lead, as they were found.
    pub teammates: Vec<Teammate>,
    /// Those that are now marked as inactive.
    pub marked: Vec<String>,
}

/// The team that the run's session leads.
pub(super) fn find(facts: &LeadFacts) -> Result<Option<Team>, OkstraError> {
    let Some(session) = facts.lead_session.as_deref().filter(|session| !session.is_empty()) else {
        return Ok(None);
    };
    let mut found = Vec::new();
    let mut broken = None;
    for file in &facts.teams {
        match JsonText::read(&file.text) {
            Ok(json) => {
                if json.get_str(&[Key("leadSessionId")]).as_deref() == Some(session) {
                    found.push((file, json));
                }
            }
            // Of a team that is not asked for it is of no importance.
            Err(fault) => {
                if is_folder_of(&file.path, session) {
                    broken = Some(LeadRefusal::broken(&file.path, fault));
                }
            }
        }
    }
    if found.len() > 1 {
        let paths = found.iter().map(|(file, _)| file.path.clone()).collect();
        return Err(LeadRefusal::SeveralTeams { session: session.to_owned(), paths }.into());
    }
    match (found.pop(), broken) {
        (Some((file, json)), _) => read(file, json).map(Some),
        (None, Some(refusal)) => Err(refusal.into()),
        (None, None) => Ok(None),
    }
}

/// Whether the folder of a config is named after a session: `session-` and its first eight
/// characters.
fn is_folder_of(path: &str, session: &str) -> bool {
    let folder = path.rsplit('/').nth(1).unwrap_or_default();
    let short: String = session.chars().take(8).collect();
    folder.strip_prefix("session-") == Some(&short)
}

fn read(file: &TeamFile, json: JsonText) -> Result<Team, OkstraError> {
    let lead = json.get_str(&[Key("leadAgentId")]).unwrap_or_default();
    let list = json
        .get(&[Key("members")])
        .map_err(|fault| LeadRefusal::broken(&file.path, fault))?
        .unwrap_or_default();
    let text = |member: &Value, name: &str| {
        member.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let members = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let members = members.iter().enumerate().filter(|(_, member)| member.is_object());
    let members = members.map(|(at, member)| {
        let (agent_id, pane) = (text(member, "agentId"), text(member, "tmuxPaneId"));
        Member {
            at,
            name: text(member, "name"),
            in_process: pane == "in-process" || text(member, "backendType") == "in-process",
            active: member.get("isActive").and_then(Value::as_bool),
            is_lead: pane == "leader" || (!lead.is_empty() && agent_id == lead),
            agent_id,
            pane,
        }
    });
    Ok(Team {
        path: file.path.clone(),
        name: json.get_str(&[Key("name")]).unwrap_or_default(),
        members: members.collect(),
        json,
        raw: file.text.clone(),
    })
}

/// The members beside the lead, with what has become of them.
pub(super) fn teammates(facts: &LeadFacts, team: &Team) -> Vec<Teammate> {
    let seen = seen(&facts.servers);
    let others = || team.members.iter().filter(|member| !member.is_lead);
    let asks = facts.caller_session.is_some() && facts.caller_session == facts.lead_session;
    let is_known: Vec<&str> = facts
        .servers
        .iter()
        .filter(|listing| {
            listing.of_team
                || (listing.own && asks)
                || seen.iter().any(|pane| {
                    pane.listing.server == listing.server
                        && others().any(|member| is_of(pane, member))
                })
        })
        .map(|listing| listing.server.as_str())
        .collect();
    others()
        .map(|member| {
            let state = state_of(member, &seen, &is_known);
            Teammate {
                name: member.name.clone(),
                pane_id: is_pane_id(&member.pane).then(|| member.pane.clone()),
                state,
                stale: state == MemberState::Gone && member.active != Some(false),
            }
        })
        .collect()
}

fn is_of(pane: &Seen<'_>, member: &Member) -> bool {
    pane.id == member.pane && pane.is_agent(&member.agent_id)
}

fn state_of(member: &Member, seen: &[Seen<'_>], known: &[&str]) -> MemberState {
    if member.in_process {
        return MemberState::InProcess;
    }
    if !is_pane_id(&member.pane) {
        return MemberState::Unknown;
    }
    let turn = if member.active == Some(false) { MemberState::Idle } else { MemberState::Active };
    if let Some(pane) = seen.iter().find(|pane| is_of(pane, member)) {
        return if pane.dead { MemberState::Gone } else { turn };
    }
    if known.is_empty() {
        return MemberState::Unknown;
    }
    let on_known = |pane: &&Seen<'_>| known.contains(&pane.listing.server.as_str());
    let mut panes = seen.iter().filter(on_known).filter(|pane| pane.id == member.pane);
    // A pane with its id may be of a later server; whoever lives in it is never called gone.
    if panes.any(|pane| !pane.dead) { turn } else { MemberState::Gone }
}

/// Marks the members whose panes are gone as inactive, in one replacement of the config.
/// Everything else in it stays byte for byte.
pub fn reconcile_team(facts: &LeadFacts) -> Result<Decision<TeamAnswer>, OkstraError> {
    if facts.lead_session.as_deref().unwrap_or_default().is_empty() {
        return Err(LeadRefusal::NoLeadSession { run: facts.run.clone() }.into());
    }
    let Some(mut team) = find(facts)? else {
        let answer =
            TeamAnswer { team: None, config: None, teammates: Vec::new(), marked: Vec::new() };
        return Ok(Decision::Decided { effects: Vec::new(), answer, warnings: Vec::new() });
    };
    let teammates = teammates(facts, &team);
    let others = team.members.iter().filter(|member| !member.is_lead);
    let mut marked = Vec::new();
    for (member, teammate) in others.zip(&teammates) {
        if !teammate.stale {
            continue;
        }
        let path = [Key("members"), Index(member.at), Key("isActive")];
        team.json
            .set(&path, &Value::Bool(false))
            .map_err(|fault| LeadRefusal::broken(&team.path, fault))?;
        marked.push(member.name.clone());
    }
    let mut warnings = Vec::new();
    let unknown: Vec<&str> = teammates
        .iter()
        .filter(|teammate| teammate.state == MemberState::Unknown)
        .map(|teammate| teammate.name.as_str())
        .collect();
    if !unknown.is_empty() {
        warnings.push(format!(
            "cannot tell from here whether these live, so they stay as they are: {}; run it from \
             the leading session, or name its tmux with --tmux-server",
            unknown.join(", ")
        ));
    }
    let mut effects = Vec::new();
    if !marked.is_empty() {
        effects.push(Effect::Replace {
            path: team.path.clone(),
            text: team.json.into_text(),
            if_unchanged: Some(team.raw),
        });
    }
    let answer = TeamAnswer { team: Some(team.name), config: Some(team.path), teammates, marked };
    Ok(Decision::Decided { effects, answer, warnings })
}

#[cfg(test)]
mod tests {
    use super::{TeamFile, reconcile_team};
    use crate::lead::{LeadFacts, Listing};
    use crate::stage::{Decision, Effect};

    const SESSION: &str = "00000001-0000-4000-8000-000000000000";
    const PATH: &str = "/c/teams/session-00000001/config.json";

    fn config(members: &str) -> String {
        format!(
            "{{ \"leadSessionId\": \"{SESSION}\", \"n\": 1.50,\n \"name\": \"session-00000001\", \"leadAgentId\": \"team-lead@x\",\r\n  \"members\": [{{\"agentId\":\"team-lead@x\",\"name\":\"team-lead\",\"tmuxPaneId\":\"leader\"}}, {members}] }}"
        )
    }

    fn member(name: &str, pane: &str, more: &str) -> String {
        format!("{{\"agentId\":\"{name}@x\",\"name\":\"{name}\",\"tmuxPaneId\":\"{pane}\"{more}}}")
    }

    fn listing(own: bool, of_team: bool, panes: &[(&str, &str, &str)]) -> Listing {
        let lines: Vec<String> = panes
            .iter()
            .flat_map(|(id, dead, command)| {
                [
                    format!("m|P|{id}|1|{dead}|||||t"),
                    format!("m|C|{id}|{}|{command}", command.len()),
                ]
            })
            .collect();
        Listing {
            server: String::from("s"),
            own,
            of_team,
            mark: String::from("m"),
            text: lines.join("\n"),
        }
    }

    fn marked(facts: &LeadFacts) -> Result<(Vec<String>, Option<String>), String> {
        match reconcile_team(facts).map_err(|error| error.info().message)? {
            Decision::Decided { answer, effects, .. } => {
                let text = effects.into_iter().find_map(|effect| match effect {
                    Effect::Replace { text, .. } => Some(text),
                    _ => None,
                });
                Ok((answer.marked, text))
            }
            Decision::Needs { .. } => Err(String::from("needs")),
        }
    }

    fn facts(text: String, servers: Vec<Listing>, asks: bool) -> LeadFacts {
        LeadFacts {
            lead_session: Some(SESSION.to_owned()),
            caller_session: asks.then(|| SESSION.to_owned()),
            teams: vec![TeamFile { path: PATH.to_owned(), text }],
            servers,
            ..LeadFacts::default()
        }
    }

    #[test]
    fn only_who_is_gone_beyond_doubt_is_marked() {
        let agent = "claude --agent-id a@x --agent-name a";
        let (a, b) = (member("a", "%1", ""), member("b", "%2", ",\"isActive\":true"));
        let idle = member("c", "%3", ",\"isActive\":false");
        let (inside, new) = (member("d", "in-process", ""), member("e", "", ""));
        let all = [a, b, idle, inside, new].join(", ");
        for (what, servers, asks, wanted) in [
            ("no tmux", vec![], true, vec![]),
            ("the lead asks", vec![listing(true, false, &[])], true, vec!["a", "b"]),
            ("somebody asks", vec![listing(true, false, &[])], false, vec![]),
            ("the server is named", vec![listing(false, true, &[])], false, vec!["a", "b"]),
            ("another server of the lead", vec![listing(false, false, &[])], true, vec![]),
            (
                "a teammate is there",
                vec![listing(true, false, &[("%1", "0", agent)])],
                false,
                vec!["b"],
            ),
            (
                "its process is dead",
                vec![listing(true, false, &[("%1", "1", agent)])],
                false,
                vec!["a", "b"],
            ),
            (
                "its id is another's",
                vec![listing(true, false, &[("%1", "0", "bash")])],
                true,
                vec!["b"],
            ),
            (
                "all live",
                vec![listing(true, false, &[("%1", "0", agent), ("%2", "0", "x")])],
                true,
                vec![],
            ),
        ] {
            let (names, text) = marked(&facts(config(&all), servers, asks)).unwrap();
            assert_eq!(names, wanted, "{what}");
            assert_eq!(text.is_some(), !wanted.is_empty(), "{what}");
        }
    }

    #[test]
    fn what_is_not_named_keeps_its_bytes() {
        let before = member("a", "%1", ", \"later\": {\"x\":[1 ,2]},\"isActive\" :true");
        let after = before.replace(":true", ":false");
        let facts = facts(config(&before), vec![listing(true, false, &[])], true);
        assert_eq!(marked(&facts).unwrap().1, Some(config(&after)));
    }

    #[test]
    fn the_team_is_the_one_of_the_session() {
        let file =
            |path: &str, text: &str| TeamFile { path: path.to_owned(), text: text.to_owned() };
        let ours = file(PATH, &config(&member("a", "%1", "")));
        let other =
            file("/c/teams/session-2/config.json", "{\"leadSessionId\":\"2\",\"members\":1}");
        let torn = file("/c/teams/session-3/config.json", "{\"lead");
        let torn_ours = file(PATH, "{\"lead");
        for (teams, wanted) in [
            (vec![other.clone(), torn.clone(), ours.clone()], Ok(1)),
            (vec![other.clone()], Ok(0)),
            (vec![torn], Ok(0)),
            (
                vec![other, torn_ours],
                Err(
                    "/c/teams/session-00000001/config.json:1:6: not usable as JSON: EOF while parsing a string",
                ),
            ),
            (
                vec![ours.clone(), file("/c/teams/session-x/config.json", &ours.text)],
                Err("2 team configs name the session 00000001-0000-4000-8000-000000000000"),
            ),
        ] {
            let facts =
                LeadFacts { teams, ..facts(String::new(), vec![listing(true, false, &[])], true) };
            let found = marked(&facts).map(|(names, _)| names.len());
            assert_eq!(found, wanted.map_err(str::to_owned));
        }
        let nobody = LeadFacts { lead_session: None, ..facts(String::new(), vec![], true) };
        assert_eq!(marked(&nobody).unwrap_err(), "the run  names no leading session");
    }
}
