//! What okstra puts into the configuration of Claude Code, and how it takes it out again.
//!
//! Skills, agents and documents are files of okstra's own; the hooks are entries in a settings file
//! that belongs to somebody else. `$OKSTRA_HOME/installed.json` records all of it before any of it
//! is written: each file with its digest, each folder that was made, and each edit of the settings
//! with what it replaced, so that taking it out leaves the settings byte for byte as they were.

pub mod doctor;
mod plan;
mod record;
mod refusal;
mod settings;

pub use plan::{
    InstallAnswer, InstallChange, InstallFacts, InstallFile, InstallRequest, InstalledFile,
    UninstallFacts, UninstallRequest, install, uninstall,
};
pub use record::{Installation, Installed, RecordFacts, RecordedFile, read_installed};
pub use refusal::InstallRefusal;

use crate::decode::decode_words;
use serde::Serialize;

/// Whose configuration of Claude Code it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Scope {
    /// The person's own, for every project.
    #[default]
    User,
    /// That of one project, for everybody who works on it.
    Project,
}

decode_words!(Scope { "user" => User, "project" => Project } Some(Self::User));
