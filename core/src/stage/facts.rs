//! What the host gathers around a plan.

use crate::claims::{Caller, QUIET_MINUTES, Sightings};
use crate::decode::decode;

/// The facts behind every request about stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Facts {
    /// The real absolute path of the plan, with `/`.
    pub plan: String,
    /// The real absolute path of the project's folder, where it is known.
    pub project_root: Option<String>,
    /// The real absolute path of the folder of the evidence, links resolved.
    pub carry_folder: Option<String>,
    /// The key to record rows under (`--impl-key`).
    pub impl_task_key: Option<String>,
    /// The key of the task (`project:group:id`), where it is known.
    pub task_key: Option<String>,
    /// Now, in ISO 8601 with its zone.
    pub now: String,
    /// Who calls.
    pub caller: Caller,
    /// The stages that the worktree registry reserves for the task.
    pub reserved: Vec<u32>,
    /// Every sidecar in the folder of the evidence.
    pub evidence: Vec<EvidenceFile>,
    /// What was seen of processes and sessions; missing until the core asks for it.
    pub sightings: Option<Sightings>,
    /// Minutes without a sign of life after which a claim is quiet. Default 30.
    pub quiet_minutes: Option<u32>,
    /// The commit the project's folder is at; missing without git.
    pub head_commit: Option<String>,
    /// The branch that is checked out there.
    pub branch: Option<String>,
}

decode!(optional Facts { plan, project_root, carry_folder, impl_task_key, task_key, now, caller, reserved, evidence, sightings, quiet_minutes, head_commit, branch });

/// A sidecar on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceFile {
    /// Its name in the folder of the evidence. Only `stage-<N>.json` counts.
    pub name: String,
    /// Its text.
    pub text: String,
}

decode!(optional EvidenceFile { name, text });

impl Facts {
    pub(crate) fn quiet_minutes(&self) -> u32 {
        self.quiet_minutes.unwrap_or(QUIET_MINUTES)
    }
}
