//! Finishing a stage that was built in a worktree.
use okstra_core::error::{ErrorCode, OkstraError};
use okstra_core::stage::{
    ClaimRequest, Decision, DoneAnswer, DoneRequest, Facts, GitFacts, claim, done,
};

use crate::support::{CARRY, Disk, evidence, facts_of, on, plan, seen, worker_result};

const WORKTREE: &str = "/h/worktrees/p/g/i.stages/stage-1";
/// The worktree's head; the evidence has its beginning.
const HEAD: &str = "0000001bcdef0123456789abcdef0123456789ab";

fn disk(worktree: Option<&str>) -> Disk {
    let mut disk = Disk::default();
    let request = ClaimRequest {
        stage: "1".into(),
        claim_id: "c1".into(),
        worktree: worktree.map(Into::into),
        branch: worktree.map(|_| "feat-i-s1".into()),
        base_commit: worktree.map(|_| "b0b0b0b".into()),
        ..ClaimRequest::default()
    };
    let facts = Facts { sightings: Some(seen()), ..facts_of("ada") };
    let made = claim(plan(&[on(&[]), on(&[1])]).as_bytes(), b"", &facts, &request);
    disk.settle(made);
    disk
}

fn clean() -> GitFacts {
    GitFacts { head: HEAD.into(), contains_base: true, ..GitFacts::default() }
}

fn finish(disk: &Disk, git: Option<GitFacts>) -> Result<Decision<DoneAnswer>, OkstraError> {
    let request = DoneRequest {
        stage: Some(1),
        name: "result.md".into(),
        evidence: worker_result(&evidence(1)),
        git,
        ..DoneRequest::default()
    };
    let facts = disk.facts(facts_of("ada"));
    done(plan(&[on(&[]), on(&[1])]).as_bytes(), &disk.ledger(), &facts, &request)
}

#[test]
fn a_worktree_is_looked_at_before_the_stage_is_done() {
    let mut disk = disk(Some(WORKTREE));
    let Ok(Decision::Needs { needs }) = finish(&disk, None) else {
        panic!("decided without looking");
    };
    assert_eq!(needs.git, [WORKTREE]);
    assert!(needs.processes.is_empty() && needs.sessions.is_empty());
    let (answer, warnings) = disk.settle(finish(&disk, Some(clean())));
    assert_eq!((answer.head_commit.as_str(), warnings.len()), ("0000001", 0));
    // Once more it answers the same without looking.
    let (answer, _) = disk.settle(finish(&disk, None));
    assert!(answer.already_done);
}

#[test]
fn what_git_says_against_it_is_a_refusal() {
    let disk = disk(Some(WORKTREE));
    let many: Vec<String> = (0..13).map(|at| format!("f{at}")).collect();
    let table = [
        (
            GitFacts { dirty: vec!["a b.rs".into(), "x\u{1b}y".into()], ..clean() },
            ErrorCode::Uncommitted,
            format!("stage 1 has uncommitted changes in {WORKTREE}: a b.rs, xy"),
        ),
        (
            GitFacts { dirty: many, contains_base: false, ..clean() },
            ErrorCode::Uncommitted,
            format!(
                "stage 1 has uncommitted changes in {WORKTREE}: f0, f1, f2, f3, f4, f5, f6, f7, \
                 f8, f9 and 3 more"
            ),
        ),
        (
            GitFacts { contains_base: false, ..clean() },
            ErrorCode::BaseLost,
            format!("the head {HEAD} of stage 1 does not contain its base b0b0b0b"),
        ),
        (
            GitFacts { head: "0000002".into(), ..clean() },
            ErrorCode::HeadDiffers,
            format!(
                "the evidence of stage 1 ends with 0000001, its worktree {WORKTREE} is at 0000002"
            ),
        ),
        (
            GitFacts { head: String::new(), ..clean() },
            ErrorCode::HeadDiffers,
            format!("the evidence of stage 1 ends with 0000001, its worktree {WORKTREE} is at "),
        ),
    ];
    for (git, code, message) in table {
        let error = finish(&disk, Some(git)).unwrap_err();
        let info = error.info();
        assert_eq!((info.code, info.message.as_str()), (code, message.as_str()));
        assert_eq!((info.exit_code, info.details.stage), (3, Some(1)));
        assert!(info.help.unwrap().ends_with("nothing was written"));
    }
}

#[test]
fn an_empty_range_is_recorded_as_a_warning() {
    let mut disk = disk(Some(WORKTREE));
    let git = GitFacts { empty_range: true, ..clean() };
    let (_, warnings) = disk.settle(finish(&disk, Some(git)));
    let wanted = "stage 1 has no commit of its own: its head is its base";
    assert_eq!(warnings, [wanted]);
    let sidecar = String::from_utf8(disk.files[&format!("{CARRY}/stage-1.json")].clone()).unwrap();
    assert!(sidecar.contains(wanted), "{sidecar}");
}

#[test]
fn without_a_worktree_git_is_not_asked() {
    let mut disk = disk(None);
    let (answer, _) = disk.settle(finish(&disk, None));
    assert_eq!(answer.stage, 1);
}
