//! What is wrong with okstra on this machine, and how to mend it.

use serde::Serialize;

use super::record::Installation;
use super::settings;
use crate::decode::decode;
use crate::digest::sha256_hex;
use crate::printable::printable;

/// The oldest Node that okstra runs on.
const OLDEST_NODE: &str = "20.19";
/// The oldest Claude Code whose hooks okstra knows.
const OLDEST_CLIENT: &str = "2.1.197";
/// The oldest git that can tell beforehand whether branches merge.
const OLDEST_GIT: &str = "2.38";

/// What the host has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct DoctorFacts {
    /// The version of this okstra.
    pub version: String,
    /// That of Node.
    pub node: String,
    /// What git says of its version; missing where there is none.
    pub git: Option<String>,
    /// The same of tmux.
    pub tmux: Option<String>,
    /// The same of Claude Code.
    pub client: Option<String>,
    /// Each place okstra was installed into.
    pub installations: Vec<InstallationFacts>,
    /// Why the record of what is installed cannot be read.
    pub record_fault: Option<String>,
    /// The files of settings that cannot be used.
    pub settings: Vec<SettingsFacts>,
    /// The folders in which locks were tried.
    pub locks: Vec<LockFacts>,
    /// The ledgers of the project.
    pub ledgers: Vec<LedgerFacts>,
    /// Claims that nobody is heard of any more.
    pub claims: Vec<ClaimFacts>,
}

decode!(optional DoctorFacts {
    version, node, git, tmux, client, installations, record_fault, settings, locks, ledgers, claims
});

/// A place okstra was installed into, as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct InstallationFacts {
    /// What was recorded.
    pub installation: Installation,
    /// The files as they are, in the order of the record.
    pub found: Vec<Option<String>>,
    /// The settings as they are.
    pub settings: Option<String>,
    /// The package that the launcher finds; missing where it finds none.
    pub package: Option<String>,
}

decode!(InstallationFacts { installation, found, settings, package });

/// A file of settings that cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingsFacts {
    /// The file, with line and column where they are known.
    pub path: String,
    /// Why it cannot be used.
    pub fault: String,
}

decode!(SettingsFacts { path, fault });

/// A folder in which locks were tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct LockFacts {
    /// The folder.
    pub folder: String,
    /// Why they do not work there; missing where they do.
    pub fault: Option<String>,
}

decode!(LockFacts { folder, fault });

/// A ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct LedgerFacts {
    /// The ledger.
    pub path: String,
    /// How a command names its plan.
    pub plan: String,
    /// How many lines cannot be used.
    pub bad: u32,
    /// Why it cannot be looked at.
    pub fault: Option<String>,
}

decode!(LedgerFacts { path, plan, bad, fault });

/// A claim that nobody is heard of any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClaimFacts {
    /// The stage.
    pub stage: u32,
    /// `dead` or `quiet`.
    pub liveness: String,
    /// The command that frees it.
    pub free: String,
}

decode!(ClaimFacts { stage, liveness, free });

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Health {
    /// It works.
    Ok,
    /// It works, and something about it should be known.
    Warn,
    /// It does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoctorRow {
    /// What was looked at.
    pub check: String,
    /// How it is.
    pub health: Health,
    /// What was found, in one line.
    pub found: String,
    /// How to mend it, or `null`.
    pub mend: Option<String>,
}

/// Everything that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoctorReport {
    /// One line each.
    pub rows: Vec<DoctorRow>,
    /// Whether nothing failed.
    pub ok: bool,
}

struct Rows(Vec<DoctorRow>);

impl Rows {
    fn add(&mut self, check: &str, health: Health, found: &str, mend: &str) {
        let mend = (!mend.is_empty()).then(|| printable(mend).into_owned());
        let found = printable(found).into_owned();
        self.0.push(DoctorRow { check: check.to_owned(), health, found, mend });
    }
}

/// Judges what was found.
pub fn diagnose(facts: &DoctorFacts) -> DoctorReport {
    let mut rows = Rows(Vec::new());
    rows.add("okstra", Health::Ok, &facts.version, "");
    let node = if is_older(&facts.node, OLDEST_NODE) { Health::Fail } else { Health::Ok };
    rows.add(
        "node",
        node,
        &facts.node,
        mend_if(node, &format!("install Node {OLDEST_NODE} or newer")),
    );
    tool(
        &mut rows,
        "git",
        facts.git.as_deref(),
        OLDEST_GIT,
        Health::Fail,
        "claims make worktrees with it",
    );
    tool(
        &mut rows,
        "tmux",
        facts.tmux.as_deref(),
        "0",
        Health::Warn,
        "panes of workers are shown in it",
    );
    tool(
        &mut rows,
        "claude",
        facts.client.as_deref(),
        OLDEST_CLIENT,
        Health::Warn,
        "hooks and skills are for it",
    );
    installations(&mut rows, facts);
    for SettingsFacts { path, fault } in &facts.settings {
        rows.add("settings", Health::Fail, &format!("{path}: {fault}"), "mend the file");
    }
    for LockFacts { folder, fault } in &facts.locks {
        match fault {
            None => rows.add("locks", Health::Ok, folder, ""),
            Some(fault) => rows.add(
                "locks",
                Health::Fail,
                &format!("{folder}: {fault}"),
                "put OKSTRA_HOME and the project on a local disk that you may write to",
            ),
        }
    }
    for LedgerFacts { path, plan, bad, fault } in &facts.ledgers {
        match fault {
            Some(fault) => rows.add("ledger", Health::Fail, &format!("{path}: {fault}"), "mend it"),
            None if *bad > 0 => rows.add(
                "ledger",
                Health::Fail,
                &format!("{path}: {bad} unusable {}", if *bad == 1 { "line" } else { "lines" }),
                &format!("okstra ledger repair {plan}"),
            ),
            None => rows.add("ledger", Health::Ok, path, ""),
        }
    }
    for ClaimFacts { stage, liveness, free } in &facts.claims {
        let dead = liveness == "dead";
        let health = if dead { Health::Fail } else { Health::Warn };
        let who = if dead { "its session is gone" } else { "nothing was heard of its session" };
        rows.add("claim", health, &format!("stage {stage}: {who}"), free);
    }
    let ok = rows.0.iter().all(|row| row.health != Health::Fail);
    DoctorReport { rows: rows.0, ok }
}

fn mend_if(health: Health, mend: &str) -> &str {
    if health == Health::Ok { "" } else { mend }
}

/// A program: missing ones are as bad as `missing` says, old ones do not work.
fn tool(
    rows: &mut Rows,
    name: &str,
    version: Option<&str>,
    oldest: &str,
    missing: Health,
    why: &str,
) {
    let install = format!("install {name} {oldest} or newer: {why}");
    match version {
        None => rows.add(name, missing, "not found", install.replace(" 0 or newer", "").as_str()),
        Some(version) if is_older(version, oldest) => {
            rows.add(name, Health::Fail, version, &install);
        }
        Some(version) => rows.add(name, Health::Ok, version, ""),
    }
}

fn installations(rows: &mut Rows, facts: &DoctorFacts) {
    if let Some(fault) = &facts.record_fault {
        rows.add("hooks", Health::Fail, fault, "mend the file, or remove it and install again");
    } else if facts.installations.is_empty() {
        rows.add("hooks", Health::Fail, "not installed", "okstra install");
    }
    for InstallationFacts { installation, found, settings: now, package } in &facts.installations {
        let scope = match installation.scope {
            super::Scope::User => "user",
            super::Scope::Project => "project",
        };
        let plugin = if installation.plugin { " --plugin" } else { "" };
        let again = format!("okstra install --scope {scope}{plugin}");
        let root = &installation.root;
        if installation.plugin {
            rows.add("hooks", Health::Ok, &format!("{root}: as a plugin"), "");
        } else {
            let mut gone = 0;
            let mut edited = 0;
            for (file, found) in installation.files.iter().zip(found) {
                match found {
                    None => gone += 1,
                    Some(text) if sha256_hex(text.as_bytes()) != file.sha256 => edited += 1,
                    Some(_) => {}
                }
            }
            let count = installation.files.len();
            if gone > 0 {
                rows.add(
                    "files",
                    Health::Fail,
                    &format!("{root}: {gone} of {count} are missing"),
                    &again,
                );
            }
            if edited > 0 {
                let found = format!("{root}: {edited} of {count} were changed");
                rows.add(
                    "files",
                    Health::Warn,
                    &found,
                    &format!("'{again} --force' brings them back"),
                );
            }
            if gone + edited == 0 {
                rows.add("files", Health::Ok, &format!("{root}: {count}"), "");
            }
            hooks(rows, installation, now.as_deref(), &again);
        }
        match package {
            Some(package) => {
                rows.add("launcher", Health::Ok, &format!("{root}: starts {package}"), "");
            }
            None => rows.add(
                "launcher",
                Health::Fail,
                &format!("{root}: finds no okstra to start"),
                "npm install --global okstra",
            ),
        }
        if installation.version != facts.version {
            let found = format!("{root}: installed by okstra {}", installation.version);
            rows.add("version", Health::Warn, &found, &again);
        }
    }
    let twice =
        |plugin: bool| facts.installations.iter().any(|one| one.installation.plugin == plugin);
    if twice(true) && twice(false) {
        rows.add(
            "hooks",
            Health::Fail,
            "installed as a plugin and in settings too: every hook runs twice",
            "okstra uninstall --plugin",
        );
    }
}

fn hooks(rows: &mut Rows, installation: &Installation, now: Option<&str>, again: &str) {
    let Some(record) = &installation.settings else {
        return;
    };
    let path = &record.path;
    let there = match settings::events_of(now.unwrap_or("{}")) {
        Ok(events) => events,
        Err(fault) => {
            let found = format!("{path}:{}: {}", fault.line, fault.reason);
            rows.add("hooks", Health::Fail, &found, "mend the file");
            return;
        }
    };
    let wanted = record.hooks.as_object().into_iter().flatten().map(|(event, _)| event);
    let missing: Vec<&str> =
        wanted.filter(|event| !there.contains(event)).map(String::as_str).collect();
    if settings::all_off(now.unwrap_or("{}")) {
        rows.add("hooks", Health::Fail, &format!("{path}: disableAllHooks is set"), "remove it");
    } else if missing.is_empty() {
        rows.add("hooks", Health::Ok, &format!("{path}: {}", there.join(", ")), "");
    } else {
        let found = format!("{path}: no hook for {}", missing.join(", "));
        rows.add("hooks", Health::Fail, &found, again);
    }
}

/// Whether a version, as programs write it, is older than another.
fn is_older(version: &str, than: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> {
        let start = text.find(|ch: char| ch.is_ascii_digit()).unwrap_or(text.len());
        let text = text.get(start..).unwrap_or_default();
        let end = text.find(|ch: char| !(ch.is_ascii_digit() || ch == '.')).unwrap_or(text.len());
        let parts = text.get(..end).unwrap_or_default().split('.');
        parts.map_while(|part| part.parse().ok()).collect()
    };
    numbers(version) < numbers(than)
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_are_told_apart() {
        for (version, than, older) in [
            ("v20.18.3", "20.19", true),
            ("v20.19.0", "20.19", false),
            ("v24.1.0", "20.19", false),
            ("git version 2.37.4", "2.38", true),
            ("git version 2.54.0.windows.1", "2.38", false),
            ("2.1.197 (Claude Code)", "2.1.197", false),
            ("2.1.99 (Claude Code)", "2.1.197", true),
            ("tmux next-3.6", "0", false),
            ("tmux 3.5a", "0", false),
        ] {
            assert_eq!(is_older(version, than), older, "{version} {than}");
        }
    }
}
