//! What the wizard says, in English and in Korean.

use crate::lead::Language;

/// The catalogues: every text is there in both languages, or it does not compile. What stands in
/// braces is filled in.
macro_rules! texts {
    ($($name:ident: $en:literal, $ko:literal;)*) => {
        /// A text of the wizard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Text { $($name,)* }

        impl Text {
            fn both(self) -> (&'static str, &'static str) {
                match self { $(Self::$name => ($en, $ko),)* }
            }
        }

        #[cfg(test)]
        const ALL: &[Text] = &[$(Text::$name,)*];
    };
}

texts! {
    // The names of what is decided.
    Project: "Project", "프로젝트";
    Task: "Task", "작업";
    ProjectId: "Project id", "프로젝트 ID";
    TaskGroup: "Task group", "작업 그룹";
    TaskId: "Task id", "작업 ID";
    TaskType: "Phase", "단계 유형";
    Brief: "Brief", "브리프";
    BaseBranch: "Base branch", "기준 브랜치";
    ApprovedPlan: "Plan", "계획";
    Approve: "Approve the plan", "계획 승인";
    Stage: "Stage", "스테이지";
    Executor: "Executor", "실행자";
    Workers: "Workers", "워커";
    Critic: "Critic", "비평자";
    Models: "Models", "모델";
    RelatedTasks: "Related tasks", "관련 작업";
    HandoffStages: "Stages to hand over", "인계할 스테이지";
    Confirmation: "Start the run", "실행 시작";

    // The questions.
    AskProject: "Which project?", "어느 프로젝트인가요?";
    AskTask: "Which task?", "어느 작업인가요?";
    AskProjectId: "What is the project called? The keys of its tasks begin with it.",
        "프로젝트를 무엇이라 부를까요? 작업 키가 이 이름으로 시작합니다.";
    AskTaskGroup: "Which group does the new task belong to?", "새 작업은 어느 그룹에 속하나요?";
    AskTaskId: "What is the new task called?", "새 작업의 ID는 무엇인가요?";
    AskTaskType: "What is to be done?", "무엇을 할까요?";
    AskBrief: "Is there a brief, a file that says what is wanted? Choose one or give its path.",
        "무엇을 원하는지 적은 브리프 파일이 있나요? 하나를 고르거나 경로를 적으세요.";
    AskStartBranch: "Which branch does the task start from?", "작업은 어느 브랜치에서 시작하나요?";
    AskTargetBranch: "Which branch does the pull request go to?",
        "풀 리퀘스트는 어느 브랜치로 보내나요?";
    AskPlan: "Which plan? Choose one or give its path.", "어느 계획인가요? 하나를 고르거나 경로를 적으세요.";
    AskPlanPath: "No plan was found for this task. Where is it?",
        "이 작업의 계획을 찾지 못했습니다. 어디에 있나요?";
    AskApprove: "The plan {plan} is not approved. Approve it now?",
        "계획 {plan}은(는) 아직 승인되지 않았습니다. 지금 승인할까요?";
    AskStage: "Which stage is to be built?", "어느 스테이지를 만들까요?";
    AskStageNone: "No stage can be built now. Go back and choose another plan or phase.",
        "지금 만들 수 있는 스테이지가 없습니다. 뒤로 가서 다른 계획이나 유형을 고르세요.";
    AskExecutor: "Which program builds the stage?", "어느 프로그램이 스테이지를 만드나요?";
    AskWorkers: "Which programs work on it?", "어느 프로그램들이 작업하나요?";
    AskCritic: "Which program reviews the result?", "어느 프로그램이 결과를 검토하나요?";
    AskModels:
        "Which models? Write program=model, several with commas between; nothing leaves the choice to each program.",
        "어느 모델을 쓸까요? 프로그램=모델을 쉼표로 구분해 적으세요. 비워 두면 각 프로그램이 고릅니다.";
    AskRelated: "Which other tasks have to do with it?", "관련된 다른 작업은 무엇인가요?";
    AskHandoff: "Which stages are handed over?", "어느 스테이지를 인계할까요?";
    AskHandoffNone: "No stage can be handed over now. Go back and choose another plan or phase.",
        "지금 인계할 수 있는 스테이지가 없습니다. 뒤로 가서 다른 계획이나 유형을 고르세요.";
    AskConfirmation: "Start this run?\n{summary}", "이대로 실행을 시작할까요?\n{summary}";
    Done: "Everything is decided. This starts the run:\n{command}",
        "모두 정해졌습니다. 다음 명령으로 실행을 시작합니다:\n{command}";

    // The options.
    NewTask: "a new task", "새 작업";
    NoBrief: "no brief", "브리프 없음";
    LatestReport: "{path} (the latest report)", "{path} (최근 보고서)";
    CheckedOut: "{branch} (checked out now)", "{branch} (현재 체크아웃됨)";
    CheckedOutCommit: "the commit that is checked out now", "현재 체크아웃된 커밋";
    RemoteDefault: "the default branch of the remote", "원격 저장소의 기본 브랜치";
    NoPlan: "without a plan", "계획 없이";
    Auto: "auto: the first stage that is ready", "auto: 준비된 첫 스테이지";
    NoCritic: "nobody", "없음";
    Yes: "yes", "예";
    No: "no", "아니오";
    Recommended: "recommended", "권장";
    Requirements: "find out what is asked for", "무엇이 필요한지 알아내기";
    Improvement: "find what is worth improving", "개선할 점 찾기";
    ErrorAnalysis: "find the cause of a fault", "오류의 원인 찾기";
    Planning: "write a plan in stages", "스테이지로 나눈 계획 쓰기";
    Implementation: "build one stage of an approved plan", "승인된 계획의 스테이지 하나 만들기";
    Verification: "judge the whole implementation", "구현 전체를 검증하기";
    Handoff: "hand the accepted work over", "승인된 작업을 인계하기";

    // The marks behind options, which are also why one cannot be chosen.
    Approved: "approved", "승인됨";
    NotApproved: "not approved", "승인 안 됨";
    Held: "open clarifications hold the approval back", "미해결 질문이 승인을 막고 있음";
    Errors: "errors: {count}", "오류: {count}";
    PlanOfOther: "it belongs to another task, the one in {folder}",
        "다른 작업({folder})의 계획입니다";
    StageDone: "done", "완료";
    StageRunning: "running", "진행 중";
    StageReserved: "reserved", "예약됨";
    StageWaits: "waits for {stages}", "{stages} 대기";
    StageCancelled: "cancelled", "취소됨";
    StageBroken: "never ready", "준비될 수 없음";
    StageNone: "no stage is ready", "준비된 스테이지 없음";

    // The words around the questions in a terminal.
    Search: "Search", "검색";
    Other: "another one, written by hand", "직접 입력";
    NoMatch: "nothing matches", "일치하는 항목이 없습니다";
    PickHint: "↑↓ choose, type to search, Enter: take, Esc: back, Ctrl-C: stop",
        "↑↓ 선택, 입력하여 검색, Enter: 확인, Esc: 뒤로, Ctrl-C: 중단";
    MultiHint: "↑↓ move, Tab: mark, type to search, Enter: take, Esc: back, Ctrl-C: stop",
        "↑↓ 이동, Tab: 표시, 입력하여 검색, Enter: 확인, Esc: 뒤로, Ctrl-C: 중단";
    WriteHint: "Enter: take, Esc: back, Ctrl-C: stop", "Enter: 확인, Esc: 뒤로, Ctrl-C: 중단";
    Start: "start it now", "지금 시작";
    Print: "only print the command", "명령만 출력";
    Change: "change an answer", "답 바꾸기";
    Stop: "stop, and start nothing", "시작하지 않고 중단";
    WhichChange: "Which answer?", "어느 답을 바꿀까요?";
    Stopped: "stopped; nothing was started and nothing written",
        "중단했습니다. 아무것도 시작하거나 쓰지 않았습니다";

    // What is wrong with an answer.
    NotAnOption: "'{value}' is none of the options", "'{value}'은(는) 선택지에 없습니다";
    NotSelectable: "'{value}' cannot be chosen: {why}", "'{value}'은(는) 고를 수 없습니다: {why}";
    OneAnswer: "give one answer", "답을 하나만 주세요";
    Twice: "'{value}' is named twice", "'{value}'이(가) 두 번 있습니다";
    AtLeastOne: "choose at least one", "하나 이상 고르세요";
    YesOrNo: "answer yes or no", "예 또는 아니오로 답하세요";
    Empty: "something has to be written here", "내용을 적어야 합니다";
    Controls: "control characters are not allowed", "제어 문자는 쓸 수 없습니다";
    NoColon: "it must be without ':'", "':'은 쓸 수 없습니다";
    TaskThere: "the task {task} is there already; go back and choose it",
        "작업 {task}은(는) 이미 있습니다. 뒤로 가서 고르세요";
    FolderTaken: "its folder would be that of the task {task}; give it another name",
        "폴더 이름이 작업 {task}와(과) 같아집니다. 다른 이름을 쓰세요";
    NoFolder: "there is no folder {path}", "폴더 {path}이(가) 없습니다";
    NoFile: "there is no file {path}", "파일 {path}이(가) 없습니다";
    NotAModel: "'{value}' is not program=model with one of {programs}",
        "'{value}'은(는) 프로그램=모델 형식이 아닙니다. 프로그램: {programs}";
    OtherProject: "this project is '{id}', not '{value}'", "이 프로젝트는 '{value}'이(가) 아니라 '{id}'입니다";
    FirstQuestion: "this is the first question", "첫 번째 질문입니다";
    OtherQuestion: "the question is '{step}', not '{value}'", "지금 질문은 '{value}'이(가) 아니라 '{step}'입니다";
    NoQuestion: "there is no answered question '{value}'", "답한 질문 중 '{value}'은(는) 없습니다";
    Finished: "all questions are answered", "모든 질문에 답했습니다";
    NotFinished: "this is to be answered first", "먼저 이 질문에 답해야 합니다";
    Lapsed: "{name}: '{value}' does not hold any more: {why}",
        "{name}: '{value}'은(는) 더 이상 유효하지 않습니다: {why}";
}

impl Text {
    /// The text in a language.
    pub(super) fn of(self, language: Language) -> &'static str {
        let (en, ko) = self.both();
        match language {
            Language::En => en,
            Language::Ko => ko,
        }
    }

    /// The same with what stands in braces filled in. What is filled in is not looked at again.
    pub(super) fn with(self, language: Language, values: &[(&str, &str)]) -> String {
        let mut text = String::new();
        let mut rest = self.of(language);
        while let Some((before, behind)) = rest.split_once('{') {
            text += before;
            let Some((name, after)) = behind.split_once('}') else { break };
            let value = values.iter().find(|(known, _)| *known == name);
            text += value.map_or("", |(_, value)| value);
            rest = after;
        }
        text + rest
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Language, Text};

    /// What stands in braces, sorted.
    fn placeholders(text: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect();
        assert_eq!(names.len(), text.matches('}').count(), "{text}");
        names.sort_unstable();
        names
    }

    #[test]
    fn both_catalogues_are_complete_and_fill_in_the_same() {
        let hangul = |text: &str| text.chars().any(|ch| ('가'..='힣').contains(&ch));
        assert!(ALL.len() > 80);
        for text in ALL {
            let (en, ko) = text.both();
            assert!(!en.is_empty() && !hangul(en), "{text:?}: {en}");
            assert!(hangul(ko), "{text:?}: {ko}");
            assert_eq!(placeholders(en), placeholders(ko), "{text:?}");
            assert_eq!((text.of(Language::En), text.of(Language::Ko)), (en, ko));
        }
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let values = [("value", "{why}"), ("why", "x")];
        let text = Text::NotSelectable.with(Language::En, &values);
        assert_eq!(text, "'{why}' cannot be chosen: x");
    }
}
