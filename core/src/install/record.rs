//! `$OKSTRA_HOME/installed.json`: what was put where.

use serde::Serialize;
use serde_json::{Value, json};

use super::Scope;
use super::refusal::InstallRefusal;
use super::settings::RecordedSettings;
use crate::decode::{Decode, decode};
use crate::error::OkstraError;
use crate::json_edit::Segment::Key;
use crate::json_edit::{JsonFault, JsonText};

/// The record as it lies on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct RecordFacts {
    /// Its absolute path.
    pub path: String,
    /// Its text; missing where there is none.
    pub text: Option<String>,
}

decode!(optional RecordFacts { path, text });

/// What is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Installed {
    /// Each place okstra was installed into.
    pub installations: Vec<Installation>,
    /// The folders around the record that okstra made, the outermost first.
    pub folders: Vec<String>,
    /// The package that installed last, where the launcher may look; empty where it is not known.
    pub package: String,
}

/// One place okstra was installed into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Installation {
    /// Whose configuration it is.
    pub scope: Scope,
    /// The folder of the configuration.
    pub root: String,
    /// Whether it was done through Claude Code's plugins.
    pub plugin: bool,
    /// The okstra that did it.
    pub version: String,
    /// The files, in the order they were written.
    pub files: Vec<RecordedFile>,
    /// The folders that okstra made, the outermost first.
    pub folders: Vec<String>,
    /// What was done to the settings; `null` where nothing was.
    pub settings: Option<RecordedSettings>,
}

decode!(Installation { scope, root, plugin, version, files, folders, settings });

/// A file of okstra's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RecordedFile {
    /// Its path.
    pub path: String,
    /// The digest of what okstra wrote.
    pub sha256: String,
}

decode!(RecordedFile { path, sha256 });

/// Reads the record.
///
/// Fails with an [`InstallRefusal`] where it cannot be read; it is left as it is.
pub fn read_installed(facts: &RecordFacts) -> Result<Installed, OkstraError> {
    let Some(text) = &facts.text else {
        return Ok(Installed::default());
    };
    let broken = |fault| InstallRefusal::broken(&facts.path, text, fault);
    let json = JsonText::read(text).map_err(broken)?;
    let version = json.get(&[Key("schema_version")]).map_err(broken)?.unwrap_or_default();
    if version.as_u64().is_none_or(|version| version > 1) {
        let (path, version) = (facts.path.clone(), version.to_string());
        return Err(InstallRefusal::NewerRecord { path, version }.into());
    }
    let list = |key: &str| json.get(&[Key(key)]).map_err(broken);
    let wrong = |reason| broken(JsonFault { line: 1, column: 1, reason });
    Ok(Installed {
        installations: Decode::decode(&list("installations")?.unwrap_or_else(|| json!([])))
            .map_err(wrong)?,
        package: json.get_str(&[Key("package")]).unwrap_or_default(),
        folders: Decode::decode(&list("folders")?.unwrap_or_else(|| json!([]))).map_err(wrong)?,
    })
}

/// The record with other content; `None` where nothing is left to record.
pub(super) fn write(
    facts: &RecordFacts,
    installed: &Installed,
) -> Result<Option<String>, InstallRefusal> {
    if installed.installations.is_empty() {
        return Ok(None);
    }
    let source = facts.text.as_deref().unwrap_or("{}\n");
    let broken = |fault| InstallRefusal::broken(&facts.path, source, fault);
    let mut json = JsonText::read(source).map_err(broken)?;
    // By way of text: a writer of values would be compiled beside that of texts.
    let listed = |text: Result<String, serde_json::Error>| {
        text.and_then(|text| serde_json::from_str::<Value>(&text)).unwrap_or_default()
    };
    for (key, new) in [
        ("schema_version", Value::from(1)),
        ("package", Value::from(installed.package.as_str())),
        ("folders", listed(serde_json::to_string(&installed.folders))),
        ("installations", listed(serde_json::to_string(&installed.installations))),
    ] {
        json.set(&[Key(key)], &new).map_err(broken)?;
    }
    Ok(Some(json.into_text()))
}
