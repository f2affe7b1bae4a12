//! What to write and what to take away.

use serde::Serialize;

use super::record::{
    Installation, Installed, RecordFacts, RecordedFile, read_installed, write as write_record,
};
use super::refusal::InstallRefusal;
use super::{Scope, settings};
use crate::decode::decode;
use crate::digest::sha256_hex;
use crate::error::OkstraError;
use crate::stage::{Decision, Effect};

/// What an installation needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallFacts {
    /// The version that is installed.
    pub version: String,
    /// The folder of the package that installs.
    pub package: String,
    /// The folder of Claude Code's configuration.
    pub root: String,
    /// The path of the launcher as the hooks name it.
    pub launcher: String,
    /// The plugin's `hooks.json`.
    pub hooks: String,
    /// The files to write, each with what is there now, and what else the record names.
    pub files: Vec<InstallFile>,
    /// The settings.
    pub settings: InstalledFile,
    /// The record.
    pub record: RecordFacts,
    /// The folders of all of these that are not there yet, the outermost first.
    pub missing_folders: Vec<String>,
}

decode!(optional InstallFacts {
    version, package, root, launcher, hooks, files, settings, record, missing_folders
});

/// A file to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct InstallFile {
    /// Its path.
    pub path: String,
    /// What okstra writes; missing where this version has no such file any more.
    pub text: Option<String>,
    /// What is there; missing where nothing is.
    pub found: Option<String>,
}

decode!(InstallFile { path, text, found });

/// A file as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct InstalledFile {
    /// Its path.
    pub path: String,
    /// What is there; missing where nothing is.
    pub found: Option<String>,
}

decode!(optional InstalledFile { path, found });

/// How to install.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallRequest {
    /// Whose configuration it is.
    pub scope: Scope,
    /// Whether Claude Code's own plugins do it, so that it is only recorded.
    pub plugin: bool,
    /// Whether files and hooks that others made or changed are replaced.
    pub force: bool,
}

decode!(optional InstallRequest { scope, plugin, force });

/// What was decided about one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum InstallChange {
    /// It is written.
    Create,
    /// It is replaced.
    Update,
    /// It is taken away.
    Remove,
}

/// What is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallAnswer {
    /// Whose configuration it is.
    pub scope: Scope,
    /// Its folder.
    pub root: String,
    /// What is done to files, in order.
    pub changes: Vec<FileChange>,
    /// Files that somebody has changed since they were installed, and that stay.
    pub kept: Vec<String>,
    /// Whether anything was installed there.
    pub was_installed: bool,
}

/// What is done to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// What is done to it.
    pub change: InstallChange,
}

/// What taking it out needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UninstallFacts {
    /// The folder of Claude Code's configuration.
    pub root: String,
    /// The files that the record names, as they are now.
    pub files: Vec<InstalledFile>,
    /// The settings that the record names.
    pub settings: InstalledFile,
    /// The record.
    pub record: RecordFacts,
}

decode!(optional UninstallFacts { root, files, settings, record });

/// How to take it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UninstallRequest {
    /// Whose configuration it is.
    pub scope: Scope,
    /// Whether it was done by Claude Code's own plugins.
    pub plugin: bool,
    /// Whether files that somebody has changed go too.
    pub force: bool,
}

decode!(optional UninstallRequest { scope, plugin, force });

/// What is to be done, as it comes together.
#[derive(Default)]
struct Work {
    effects: Vec<Effect>,
    answer: InstallAnswer,
    warnings: Vec<String>,
}

impl Work {
    fn put(&mut self, path: &str, text: String, found: Option<&str>) {
        let change = if found.is_some() { InstallChange::Update } else { InstallChange::Create };
        self.answer.changes.push(FileChange { path: path.to_owned(), change });
        let (path, if_unchanged) = (path.to_owned(), found.map(str::to_owned));
        self.effects.push(Effect::Replace { path, text, if_unchanged });
    }

    fn remove(&mut self, path: &str, found: &str) {
        self.answer
            .changes
            .push(FileChange { path: path.to_owned(), change: InstallChange::Remove });
        self.effects.push(Effect::Remove { path: path.to_owned(), if_unchanged: found.to_owned() });
    }

    fn keep(&mut self, path: &str) {
        self.answer.kept.push(path.to_owned());
        self.warnings.push(format!("{path} was changed since it was installed; it stays"));
    }

    fn decided(self) -> Decision<InstallAnswer> {
        Decision::Decided { effects: self.effects, answer: self.answer, warnings: self.warnings }
    }
}

/// Decides what to write so that okstra is installed. Where it is already, there are no effects.
///
/// Fails with an [`InstallRefusal`] where the settings or the record cannot be read, and where
/// files of somebody else are in the way.
pub fn install(
    facts: &InstallFacts,
    request: &InstallRequest,
) -> Result<Decision<InstallAnswer>, OkstraError> {
    let mut installed = read_installed(&facts.record)?;
    installed.package.clone_from(&facts.package);
    let at = position(&installed, request.scope, &facts.root, request.plugin);
    let before = at.and_then(|at| installed.installations.get(at)).cloned();
    let recorded = |path: &str| {
        let files = before.iter().flat_map(|before| &before.files);
        files.filter(|file| file.path == path).map(|file| file.sha256.as_str()).next()
    };
    let mut work = Work::default();
    work.answer.scope = request.scope;
    work.answer.root.clone_from(&facts.root);
    work.answer.was_installed = before.is_some();

    if request.plugin {
        let installation = Installation {
            scope: request.scope,
            root: facts.root.clone(),
            plugin: true,
            version: facts.version.clone(),
            ..Installation::default()
        };
        note_folders(facts, &mut installed, &mut Vec::new());
        place(&mut installed, at, installation);
        record(&facts.record, &installed, &mut work)?;
        return Ok(work.decided());
    }
    // Every reason not to begin comes before anything else.
    let path = &facts.settings.path;
    let found = facts.settings.found.as_deref();
    let no_hooks = |fault| InstallRefusal::broken("hooks.json", &facts.hooks, fault);
    let wanted = settings::wanted(&facts.hooks, &facts.launcher).map_err(no_hooks)?;
    let old = before.as_ref().and_then(|before| before.settings.as_ref());
    let merged = settings::merge(path, found, old, &wanted, request.force)
        .map_err(|fault| InstallRefusal::broken(path, found.unwrap_or_default(), fault))?;
    let foreign = |file: &&InstallFile| {
        let other = file.found.is_some() && file.text.is_some() && file.found != file.text;
        other && recorded(&file.path).is_none()
    };
    let lines: Vec<String> =
        facts.files.iter().filter(foreign).map(|file| file.path.clone()).collect();
    if !(lines.is_empty() || request.force) {
        return Err(InstallRefusal::Taken { lines }.into());
    }

    let mut files = Vec::new();
    let mut writes = Work::default();
    for InstallFile { path, text, found } in &facts.files {
        let digest = |text: &str| sha256_hex(text.as_bytes());
        let known = recorded(path);
        let is_changed = found.as_deref().is_some_and(|found| {
            text.as_deref() != Some(found) && known.is_some_and(|known| known != digest(found))
        });
        let record = |sha256: String| RecordedFile { path: path.clone(), sha256 };
        match (text, found) {
            _ if is_changed && !request.force => {
                writes.keep(path);
                // What okstra wrote once, so that it is still known to be changed.
                files.extend(known.map(str::to_owned).map(record));
            }
            (Some(text), found) => {
                files.push(record(digest(text)));
                if found.as_ref() != Some(text) {
                    writes.put(path, text.clone(), found.as_deref());
                }
            }
            (None, Some(found)) => writes.remove(path, found),
            (None, None) => {}
        }
    }
    for event in &merged.kept {
        let warning = format!("{path}: the hook of {event} was changed since; it stays");
        writes.warnings.push(warning);
    }
    if found != Some(merged.text.as_str()) {
        writes.put(path, merged.text, found);
    }

    let mut folders = before.map(|before| before.folders).unwrap_or_default();
    note_folders(facts, &mut installed, &mut folders);
    let installation = Installation {
        scope: request.scope,
        root: facts.root.clone(),
        plugin: false,
        version: facts.version.clone(),
        files,
        folders,
        settings: Some(merged.record),
    };
    place(&mut installed, at, installation);
    // Written first: whatever happens later, it is known what may lie around.
    record(&facts.record, &installed, &mut work)?;
    work.effects.append(&mut writes.effects);
    work.answer.changes.append(&mut writes.answer.changes);
    work.answer.kept = writes.answer.kept;
    work.warnings = writes.warnings;
    Ok(work.decided())
}

/// Decides what to take away. The settings come first, so that no hook starts what is gone.
///
/// Fails with an [`InstallRefusal`] where the settings or the record cannot be read.
pub fn uninstall(
    facts: &UninstallFacts,
    request: &UninstallRequest,
) -> Result<Decision<InstallAnswer>, OkstraError> {
    let mut installed = read_installed(&facts.record)?;
    let mut work = Work::default();
    work.answer.scope = request.scope;
    work.answer.root.clone_from(&facts.root);
    let Some(at) = position(&installed, request.scope, &facts.root, request.plugin) else {
        return Ok(work.decided());
    };
    let mut before = installed.installations.remove(at);
    work.answer.was_installed = true;
    if let (Some(record), Some(found)) = (before.settings.take(), &facts.settings.found) {
        let path = &facts.settings.path;
        let broken = |fault| InstallRefusal::broken(path, found, fault);
        match settings::take_out(found, &record).map_err(broken)? {
            Some(text) if text == *found => {}
            Some(text) => work.put(path, text, Some(found)),
            None => work.remove(path, found),
        }
    }
    let mut stay = Vec::new();
    for file in before.files {
        let now = facts.files.iter().find(|now| now.path == file.path);
        let Some(found) = now.and_then(|now| now.found.as_ref()) else {
            continue;
        };
        if request.force || sha256_hex(found.as_bytes()) == file.sha256 {
            work.remove(&file.path, found);
        } else {
            work.keep(&file.path);
            stay.push(file);
        }
    }
    let gone = |path: &String| Effect::RemoveFolder { path: path.clone() };
    work.effects.extend(before.folders.iter().rev().map(gone));
    if !stay.is_empty() {
        // Their folders stay with them.
        before.files = stay;
        installed.installations.insert(at, before);
    } else if installed.installations.is_empty() {
        let folders = std::mem::take(&mut installed.folders);
        record(&facts.record, &installed, &mut work)?;
        work.effects.extend(folders.iter().rev().map(gone));
        return Ok(work.decided());
    }
    record(&facts.record, &installed, &mut work)?;
    Ok(work.decided())
}

/// Writes down the folders that are about to be made: those around the record serve all.
fn note_folders(facts: &InstallFacts, installed: &mut Installed, own: &mut Vec<String>) {
    let record = &facts.record.path;
    for folder in &facts.missing_folders {
        let is_around =
            record.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let list = if is_around { &mut installed.folders } else { &mut *own };
        if !list.contains(folder) {
            list.push(folder.clone());
        }
    }
}

fn place(installed: &mut Installed, at: Option<usize>, installation: Installation) {
    match at.and_then(|at| installed.installations.get_mut(at)) {
        Some(place) => *place = installation,
        None => installed.installations.push(installation),
    }
}

/// Which installation it is.
fn position(installed: &Installed, scope: Scope, root: &str, plugin: bool) -> Option<usize> {
    installed
        .installations
        .iter()
        .position(|one| one.scope == scope && one.root == root && one.plugin == plugin)
}

/// Writes the record, where it says something else now.
fn record(
    facts: &RecordFacts,
    installed: &Installed,
    work: &mut Work,
) -> Result<(), InstallRefusal> {
    let new = write_record(facts, installed)?;
    match (new, &facts.text) {
        (Some(new), old) if old.as_ref() != Some(&new) => {
            work.put(&facts.path, new, old.as_deref());
        }
        (None, Some(old)) => work.remove(&facts.path, old),
        _ => {}
    }
    Ok(())
}
