//! The end of a run: what is left of it, the one question about it, and what follows from the
//! answer.

use serde::Serialize;

use super::panes::{self, Pane};
use super::progress::teardown_is_next;
use super::team::{self, MemberState, Teammate};
use super::{LeadFacts, LeadRefusal};
use crate::decode::{decode, decode_words};
use crate::error::OkstraError;
use crate::printable::printable;

/// The language of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub enum Language {
    /// English.
    En,
    /// Korean.
    Ko,
}

decode_words!(Language { "en" => En, "ko" => Ko } Some(Self::En));

/// What is asked at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct WrapUpRequest {
    /// The language of the person. Default: English.
    pub language: Language,
    /// What the person has answered; missing until the question was asked.
    pub answer: Option<String>,
    /// The text of the run's event log where it exists.
    pub log: Option<String>,
    /// The number of the run in its folder, where it is known.
    pub sequence: Option<u32>,
}

decode!(WrapUpRequest { language, answer, log, sequence });

/// A message that the lead has to send: the input of its tool `SendMessage`, as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShutdownMessage {
    /// The teammate.
    pub to: String,
    /// An object, never a text with JSON in it.
    pub message: ShutdownRequest,
}

/// What asks a teammate to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShutdownRequest {
    /// `shutdown_request`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What is left of a run and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WrapUpAnswer {
    /// Whether there is anything to ask about.
    pub ask: bool,
    /// The question, with what it is about; `null` where there is nothing to ask.
    pub question: Option<String>,
    /// The panes that are left.
    pub panes: Vec<Pane>,
    /// The teammates that are left.
    pub teammates: Vec<Teammate>,
    /// The name of the team.
    pub team: Option<String>,
    /// What was answered; `null` where nothing was, or nothing had to be.
    pub agreed: Option<bool>,
    /// The panes to close now. Those of living teammates close when these end.
    pub close: Vec<Pane>,
    /// What the lead has to send then.
    pub messages: Vec<ShutdownMessage>,
    /// Whether the dismissal is a checkpoint that the run has to report now.
    pub report_teardown: bool,
    /// What stays and how to remove it later, one line each.
    pub stays: Vec<String>,
}

/// Gathers what is left of a run and says what to ask, or what follows from the answer.
///
/// Panes and teammates are one question with one answer for all of it. Members that are gone and
/// marked as inactive are nothing to ask about: nobody can take them out of the list.
pub fn wrap_up(facts: &LeadFacts, request: &WrapUpRequest) -> Result<WrapUpAnswer, OkstraError> {
    let team = team::find(facts)?;
    let panes = panes::of_run(facts, team.as_ref());
    let mut teammates = team.as_ref().map(|team| team::teammates(facts, team)).unwrap_or_default();
    teammates.retain(|teammate| teammate.state != MemberState::Gone || teammate.stale);
    let ask = !(panes.is_empty() && teammates.is_empty());
    let agreed = match request.answer.as_deref() {
        Some(answer) => Some(meaning(answer)?).filter(|_| ask),
        None => None,
    };
    let mut answer = WrapUpAnswer {
        ask,
        question: ask.then(|| question(request.language, &panes, &teammates)),
        team: team.map(|team| team.name),
        agreed,
        close: Vec::new(),
        messages: Vec::new(),
        report_teardown: false,
        stays: Vec::new(),
        panes,
        teammates,
    };
    match agreed {
        Some(true) => agree(&mut answer, request),
        Some(false) => answer.stays = stays(request.language, &answer, &facts.run),
        None => {}
    }
    Ok(answer)
}

/// What a person means by an answer.
fn meaning(answer: &str) -> Result<bool, LeadRefusal> {
    let word = answer.trim().to_lowercase();
    match word.as_str() {
        "yes" | "y" | "close" | "cleanup" | "예" | "네" => Ok(true),
        "no" | "n" | "keep" | "아니오" | "아니요" => Ok(false),
        _ => Err(LeadRefusal::NotAnAnswer { answer: answer.to_owned() }),
    }
}

fn agree(answer: &mut WrapUpAnswer, request: &WrapUpRequest) {
    let leaving = answer.teammates.iter().filter(|mate| mate.state != MemberState::Gone);
    answer.messages = leaving
        .map(|mate| ShutdownMessage {
            to: mate.name.clone(),
            message: ShutdownRequest { kind: String::from("shutdown_request") },
        })
        .collect();
    // A teammate whose pane is taken from it stays in the config for ever; one that is asked to
    // end takes its pane and its entry along.
    let leaves_by_itself = |pane: &&Pane| {
        !pane.dead && pane.teammate.as_ref().is_some_and(|name| is_asked(answer, name))
    };
    answer.close = answer.panes.iter().filter(|pane| !leaves_by_itself(pane)).cloned().collect();
    let log = request.log.as_deref().unwrap_or_default();
    answer.report_teardown =
        !answer.teammates.is_empty() && teardown_is_next(log, request.sequence);
}

fn is_asked(answer: &WrapUpAnswer, name: &str) -> bool {
    answer.messages.iter().any(|message| message.to == name)
}

/// The question, with the list of panes and teammates between its two lines.
fn question(language: Language, panes: &[Pane], teammates: &[Teammate]) -> String {
    let (shown, mates) = (panes.len(), teammates.len());
    let mut lines = vec![match language {
        Language::Ko => format!(
            "실행이 끝났고 okstra pane {shown}개와 팀원 {mates}명이 남아 있습니다. 모두 닫고 정리할까요?"
        ),
        Language::En => format!(
            "The run is over; {} and {} are left. Close and dismiss all of them?",
            counted(shown, "okstra pane"),
            counted(mates, "teammate")
        ),
    }];
    lines.extend(panes.iter().map(|pane| format!("> {}\t{}", pane.pane_id, pane.title)));
    lines.extend(teammates.iter().map(|mate| format!("> {}", printable(&mate.name))));
    lines.push(String::from(match language {
        Language::Ko => "(예) 모두 닫고 팀원 정리 / (아니오) 그대로 두기",
        Language::En => "(yes) close and dismiss all / (no) leave everything as it is",
    }));
    lines.join("\n")
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What stays, and how to remove it later.
fn stays(language: Language, answer: &WrapUpAnswer, run: &str) -> Vec<String> {
    let (panes, mates) = (answer.panes.len(), answer.teammates.len());
    let team = printable(answer.team.as_deref().unwrap_or_default()).into_owned();
    let run = word(run);
    let close = format!("okstra panes close --run-dir {run}");
    let dismiss = format!("okstra wrap-up --run-dir {run} --answer yes");
    let lines = match language {
        Language::Ko => [
            format!(
                "남은 pane {panes}개: trace pane은 세션이 끝날 때 닫힙니다. 지금 모두 닫으려면: {close}"
            ),
            format!(
                "남은 팀원 {mates}명: 세션이 끝날 때까지 보입니다. 그 전에 정리하려면 Teams 화면에서 팀 {team}을(를) 정리하거나: {dismiss}"
            ),
        ],
        Language::En => [
            format!(
                "still open: {}; trace panes are closed when the session ends, all of them now with: {close}",
                counted(panes, "pane")
            ),
            format!(
                "still visible until the session ends: {}; earlier through the Teams view (team {team}), or with: {dismiss}",
                counted(mates, "teammate")
            ),
        ],
    };
    let is_meant = [panes > 0, mates > 0];
    lines.into_iter().zip(is_meant).filter(|(_, meant)| *meant).map(|(line, _)| line).collect()
}

/// A path as one word of a command line.
fn word(path: &str) -> String {
    let is_plain = |ch: char| ch.is_alphanumeric() || "/._-+:@%".contains(ch);
    let path = printable(path);
    if path.chars().all(is_plain) {
        return path.into_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{Language, WrapUpAnswer, WrapUpRequest, wrap_up};
    use crate::lead::{LeadFacts, Listing, TeamFile};

    fn facts(members: &str, lines: &[&str]) -> LeadFacts {
        LeadFacts {
            run: String::from("/r"),
            lead_session: Some(String::from("s")),
            caller_session: Some(String::from("s")),
            servers: vec![Listing {
                server: String::from("x"),
                own: true,
                of_team: false,
                mark: String::from("m"),
                text: lines.join("\n"),
            }],
            teams: vec![TeamFile {
                path: String::from("/c"),
                text: format!(
                    "{{\"name\":\"session-s\",\"leadSessionId\":\"s\",\"members\":[{{\"name\":\"team-lead\",\"tmuxPaneId\":\"leader\"}}{members}]}}"
                ),
            }],
            ..LeadFacts::default()
        }
    }

    fn ask(
        facts: &LeadFacts,
        language: Language,
        answer: Option<&str>,
    ) -> Result<WrapUpAnswer, String> {
        let request = WrapUpRequest {
            language,
            answer: answer.map(str::to_owned),
            log: Some(String::from("{\"event\":\"progress\",\"checkpoint\":\"persist\"}\n")),
            sequence: None,
        };
        wrap_up(facts, &request).map_err(|error| error.to_string())
    }

    const TRACE: &str = "m|P|%1|11|0|%1|trace|s|/r|codex-worker";
    const MATE: &str =
        ",{\"agentId\":\"a@t\",\"name\":\"a\",\"tmuxPaneId\":\"%2\",\"isActive\":false}";
    const MATE_PANE: [&str; 2] = ["m|P|%2|12|0|||||mate", "m|C|%2|21|claude --agent-id a@t"];
    const GONE: &str =
        ",{\"agentId\":\"b@t\",\"name\":\"b\",\"tmuxPaneId\":\"%9\",\"isActive\":true}";

    #[test]
    fn nothing_left_is_no_question() {
        let gone = GONE.replace("true", "false");
        for members in ["", gone.as_str()] {
            for answer in [None, Some("yes"), Some("no")] {
                let answer = ask(&facts(members, &[]), Language::En, answer).unwrap();
                assert!(!answer.ask && answer.question.is_none() && answer.agreed.is_none());
                assert!(
                    answer.messages.is_empty()
                        && answer.close.is_empty()
                        && answer.stays.is_empty()
                );
            }
        }
    }

    #[test]
    fn one_question_for_all_of_it() {
        let [pane, command] = MATE_PANE;
        let left = facts(MATE, &[TRACE, pane, command]);
        assert_eq!(
            ask(&left, Language::En, None).unwrap().question.unwrap(),
            "The run is over; 2 okstra panes and 1 teammate are left. Close and dismiss all of them?\n> %1\tcodex-worker\n> %2\tmate\n> a\n(yes) close and dismiss all / (no) leave everything as it is"
        );
        let korean = ask(&left, Language::Ko, None).unwrap().question.unwrap();
        assert!(
            korean.starts_with("실행이 끝났고 okstra pane 2개와 팀원 1명이 남아 있습니다."),
            "{korean}"
        );
        assert!(korean.ends_with("(예) 모두 닫고 팀원 정리 / (아니오) 그대로 두기"), "{korean}");
    }

    #[test]
    fn yes_closes_and_dismisses() {
        let [pane, command] = MATE_PANE;
        let members = format!("{MATE}{GONE}");
        for yes in ["yes", "Y", " 예 ", "네", "close"] {
            let answer =
                ask(&facts(&members, &[TRACE, pane, command]), Language::En, Some(yes)).unwrap();
            assert_eq!(answer.agreed, Some(true));
            let closed: Vec<_> = answer.close.iter().map(|pane| pane.pane_id.as_str()).collect();
            assert_eq!(closed, ["%1"]);
            assert_eq!(
                serde_json::to_string(&answer.messages).unwrap(),
                r#"[{"to":"a","message":{"type":"shutdown_request"}}]"#
            );
            assert!(answer.report_teardown);
        }
        // A teammate whose process is dead ends by nothing else.
        let dead = pane.replace("|12|0|", "|12|1|");
        let answer = ask(&facts(MATE, &[&dead, command]), Language::En, Some("yes")).unwrap();
        assert_eq!((answer.close.len(), answer.messages.len()), (1, 0));
        // Without tmux nobody is known to be gone, so everybody is asked.
        let mut blind = facts(&members, &[]);
        blind.servers.clear();
        assert_eq!(ask(&blind, Language::En, Some("yes")).unwrap().messages.len(), 2);
    }

    #[test]
    fn no_says_what_stays() {
        let left = facts(MATE, &[TRACE]);
        for (language, no) in
            [(Language::En, "no"), (Language::Ko, "아니오"), (Language::En, "keep")]
        {
            let answer = ask(&left, language, Some(no)).unwrap();
            assert_eq!(
                (answer.agreed, answer.close.len(), answer.messages.len()),
                (Some(false), 0, 0)
            );
            assert!(
                answer.stays.iter().any(|line| line.contains("okstra panes close")),
                "{:?}",
                answer.stays
            );
        }
        assert_eq!(
            ask(&left, Language::En, Some("only codex")).unwrap_err(),
            "'only codex' is neither yes nor no"
        );
    }
}
