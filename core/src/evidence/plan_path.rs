//! Whether a path that evidence names is the path of its plan.

use crate::plan::unicode::decomposed;

/// A path by its parts, `.` and what `..` takes back left out.
struct Parts {
    names: Vec<String>,
    absolute: bool,
    /// Whether a `..` goes above where the path begins.
    leaves: bool,
}

/// Whether `path` is the plan `plan_path` (relative to the project, with `/`).
///
/// It may be written in four ways: relative to the project; relative to `task_root`, the folder of
/// the task; as the absolute path of the plan; or as any path that ends with `plan_path` at the
/// boundary of a part, since a stage is built in a worktree that has its own copy. Where `plan_path`
/// has no folder in it, that last holds only below a folder `worktrees`: `docs/plan.md` and
/// `/another/project/plan.md` are other files than `plan.md`. Backslashes are slashes, repeated ones are one, and the Unicode form does not
/// count. A path that leaves where it begins is nobody's plan, unless `plan_path` is that path.
pub(crate) fn names_this_plan(
    path: &str,
    plan_path: &str,
    plan_absolute: &str,
    task_root: Option<&str>,
) -> bool {
    let given = parts(path);
    if given.names.is_empty() {
        return false;
    }
    let plan = parts(plan_path);
    for whole in [&plan, &parts(plan_absolute)] {
        if given.absolute == whole.absolute && given.names == whole.names {
            return true;
        }
    }
    if let Some(root) = task_root
        && !given.absolute
    {
        let inside = parts(&format!("{root}/{path}"));
        if !inside.leaves && inside.names == plan.names {
            return true;
        }
    }
    !given.leaves
        && !plan.names.is_empty()
        && (given.absolute && given.names.iter().any(|name| *name == "worktrees")
            || plan.names.len() > 1)
        && given.names.ends_with(&plan.names)
}

/// Whether of two paths one is the end of the other, at the boundary of a part.
pub(crate) fn ends_alike(a: &str, b: &str) -> bool {
    let (a, b) = (parts(a).names, parts(b).names);
    !a.is_empty() && !b.is_empty() && (a.ends_with(&b) || b.ends_with(&a))
}

/// Whether a path goes above where it begins.
pub(super) fn leaves(path: &str) -> bool {
    parts(path).leaves
}

fn parts(path: &str) -> Parts {
    let unified = decomposed(path.trim()).replace('\\', "/");
    let drive = unified.as_bytes().get(1) == Some(&b':')
        && unified.starts_with(|ch: char| ch.is_ascii_alphabetic());
    let mut all =
        Parts { names: Vec::new(), absolute: unified.starts_with('/') || drive, leaves: false };
    for (at, part) in unified.split('/').enumerate() {
        match part {
            "" | "." => {}
            ".." => match all.names.last().map(String::as_str) {
                // Kept, so that a plan beside the project can be named at all.
                None | Some("..") => {
                    all.leaves = true;
                    all.names.push(String::from(".."));
                }
                Some(_) => {
                    all.names.pop();
                }
            },
            // The letter of a drive has no case.
            _ if at == 0 && drive => all.names.push(part.to_ascii_lowercase()),
            _ => all.names.push(part.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{leaves, names_this_plan};

    #[test]
    fn ways_to_name_a_plan() {
        let task = ".okstra/tasks/web/17";
        let relative = "runs/implementation-planning/reports/plan.md";
        let plan = format!("{task}/{relative}");
        let absolute = format!("/home/me/shop/{plan}");
        let table = [
            (plan.clone(), true),
            (format!("./{plan}"), true),
            (plan.replace('/', "\\"), true),
            (plan.replace('/', "//"), true),
            (format!("src/../{plan}"), true),
            (format!(" {plan} "), true),
            (relative.to_owned(), true),
            (format!("./{relative}"), true),
            (format!("../17/{relative}"), true),
            (absolute.clone(), true),
            (format!("/home/me/shop/src/../{plan}"), true),
            (format!("/home/me/.okstra/worktrees/shop/web/17.stages/stage-2/{plan}"), true),
            (format!("C:\\work\\shop\\{}", plan.replace('/', "\\")), true),
            (format!("shop/{plan}"), true),
            (String::new(), false),
            (String::from("/"), false),
            (String::from("."), false),
            (String::from("plan.md"), false),
            (format!("x{plan}"), false),
            (format!("/home/me/shop/x{plan}"), false),
            (format!("{plan}/more"), false),
            (format!("../{plan}"), false),
            (format!("../../../../../{plan}"), false),
            (plan.replace("17", "18"), false),
            (plan.to_uppercase(), false),
        ];
        for (path, expected) in table {
            let got = names_this_plan(&path, &plan, &absolute, Some(task));
            assert_eq!(got, expected, "{path}");
        }
    }

    #[test]
    fn a_plan_at_the_top_or_beside_the_project() {
        let top = |path| names_this_plan(path, "plan.md", "/p/plan.md", None);
        assert!(top("plan.md") && top("/p/plan.md") && top("/home/worktrees/s/plan.md"));
        assert!(!top("docs/plan.md") && !top("/p/myplan.md") && !top("/other/plan.md"));
        let beside = |path| names_this_plan(path, "../plans/a.md", "/p/plans/a.md", None);
        assert!(beside("../plans/a.md") && beside("/p/plans/a.md") && !beside("plans/a.md"));
        let unicode = |path| names_this_plan(path, "docs/\u{e9}.md", "/p/docs/\u{e9}.md", None);
        assert!(unicode("docs/e\u{301}.md"));
        let drive = |path| names_this_plan(path, "../x/a.md", "C:\\x\\a.md", None);
        assert!(drive("c:/x/a.md") && !drive("d:/x/a.md"));
        assert!(leaves("a/../../b") && leaves("/..") && !leaves("a/../b"));
    }
}
