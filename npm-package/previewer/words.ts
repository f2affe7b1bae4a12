// Everything the view says, in the languages it speaks.
import type { StageState } from '../src/generated/types.js';

/** A language of the view. */
export type Language = 'en' | 'ko';

/** What the view says. */
export interface Words {
  states: Record<StageState, string>;
  /** The state as it stands on a card, where there is little room. */
  inPr: string;
  /** What a state means, for those who ask. */
  meanings: Record<StageState, string>;
  graph: string;
  text: string;
  views: string;
  search: string;
  searchHint: string;
  found: (count: number, all: number) => string;
  filter: string;
  clearFilter: string;
  wave: (wave: number) => string;
  noWave: string;
  allWaves: string;
  waves: (count: number) => string;
  stage: (stage: number) => string;
  stages: (count: number) => string;
  row: string;
  steps: (count: number) => string;
  criticalPath: string;
  criticalSteps: (steps: number, all: number) => string;
  onCriticalPath: string;
  waitsFor: string;
  waitsForNothing: string;
  stillWaitsFor: string;
  unlocks: string;
  unlocksNothing: string;
  behind: (steps: number) => string;
  findings: string;
  errors: (count: number) => string;
  warnings: (count: number) => string;
  noFindings: string;
  wholePlan: string;
  repair: string;
  help: string;
  seeAlso: string;
  inText: string;
  inGraph: string;
  line: (line: number) => string;
  source: string;
  step: string;
  action: string;
  files: string;
  command: string;
  expected: string;
  noSteps: string;
  exitContract: string;
  validation: string;
  commands: string;
  carryIn: string;
  evidence: string;
  noEvidence: string;
  passed: string;
  notPassed: string;
  stale: string;
  builtOn: string;
  completed: string;
  commits: string;
  changedFiles: string;
  identifiers: string;
  validations: string;
  observed: string;
  exitCode: (code: number | null) => string;
  notes: string;
  noted: string;
  pullRequest: string;
  verdict: string;
  verdicts: Record<string, string>;
  by: string;
  since: string;
  head: string;
  worktree: string;
  branch: string;
  externalLink: string;
  close: string;
  previous: string;
  next: string;
  zoomIn: string;
  zoomOut: string;
  fit: string;
  exportSvg: string;
  exportPng: string;
  copyLink: string;
  copied: string;
  notCopied: string;
  notSaved: (format: string) => string;
  theme: string;
  themes: Record<'auto' | 'light' | 'dark', string>;
  otherLanguage: string;
  keys: string;
  keyTable: readonly (readonly [keys: string, meaning: string])[];
  minimap: string;
  approved: string;
  pending: string;
  noApproval: string;
  heldBack: (count: number) => string;
  doneOf: (done: number, all: number) => string;
  about: string;
  records: string;
  compactHint: string;
  empty: string;
  nothingFound: string;
  graphLabel: string;
  graphHow: string;
  panel: string;
  live: string;
  liveHint: string;
  reconnecting: string;
  ended: string;
  endedHint: string;
  fault: string;
  dropHere: string;
  dropTitle: string;
  dropText: string;
  chooseFiles: string;
  chooseFolder: string;
  orPaste: string;
  pasteLabel: string;
  show: string;
  example: string;
  privacy: string;
  open: string;
  dropAdds: string;
  noPlanIn: string;
  noPlanYet: string;
  tooMuch: string;
  cannotRead: (path: string) => string;
  loading: string;
}

const s = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const en: Words = {
  states: {
    ready: 'ready',
    running: 'running',
    waiting: 'waiting',
    done: 'done',
    verified: 'verified',
    pr: 'in a pull request',
    reserved: 'reserved',
    cancelled: 'cancelled',
    broken: 'broken',
  },
  inPr: 'in a PR',
  meanings: {
    ready: 'everything it depends on is done; it can be claimed',
    running: 'a session builds it',
    waiting: 'something it depends on is not done',
    done: 'built, with evidence',
    verified: 'done, and a verification accepted it',
    pr: 'done, and part of a pull request',
    reserved: 'its worktree is being made',
    cancelled: 'struck out in the plan',
    broken: 'it can never be ready as the plan stands',
  },
  graph: 'Graph',
  text: 'Text',
  views: 'View',
  search: 'Search stages',
  searchHint: 'Search: title, file, command…',
  found: (count, all) => `${count} of ${all}`,
  filter: 'Show only these states',
  clearFilter: 'Show all',
  wave: (wave) => `Wave ${wave}`,
  noWave: 'In no wave',
  allWaves: 'All waves',
  waves: (count) => s(count, 'wave'),
  stage: (stage) => `Stage ${stage}`,
  stages: (count) => s(count, 'stage'),
  row: 'Row without a number',
  steps: (count) => s(count, 'step'),
  criticalPath: 'Critical path',
  criticalSteps: (steps, all) => `${steps} of ${all} steps`,
  onCriticalPath: 'on the critical path',
  waitsFor: 'Depends on',
  waitsForNothing: 'nothing: it can be built from the start',
  stillWaitsFor: 'still waits for',
  unlocks: 'Unlocks',
  unlocksNothing: 'nothing waits for it',
  behind: (steps) => `${s(steps, 'step')} in the longest chain behind it`,
  findings: 'Findings',
  errors: (count) => s(count, 'error'),
  warnings: (count) => s(count, 'warning'),
  noFindings: 'No findings: the plan reads well.',
  wholePlan: 'Whole plan',
  repair: 'can be repaired: okstra plan check --fix',
  help: 'Help',
  seeAlso: 'See also',
  inText: 'Show in the text',
  inGraph: 'Show in the graph',
  line: (line) => `line ${line}`,
  source: 'Text of the plan',
  step: 'Step',
  action: 'Action',
  files: 'Files',
  command: 'Command',
  expected: 'Expected',
  noSteps: 'The plan names no steps.',
  exitContract: 'Exit contract',
  validation: 'Validation',
  commands: 'Commands',
  carryIn: 'Carry-in',
  evidence: 'Evidence',
  noEvidence: 'None yet.',
  passed: 'passed',
  notPassed: 'does not count',
  stale: 'Evidence is stale',
  builtOn: 'built on it',
  completed: 'completed',
  commits: 'Commits',
  changedFiles: 'Changed files',
  identifiers: 'New identifiers',
  validations: 'Validations',
  observed: 'Seen by okstra',
  exitCode: (code) => (code === null ? 'ended by a signal' : `exit ${code}`),
  notes: 'Notes',
  noted: 'Noted by okstra',
  pullRequest: 'Pull request',
  verdict: 'Verification',
  verdicts: {
    accepted: 'accepted',
    'conditional-accept': 'accepted with conditions',
    blocked: 'blocked',
  },
  by: 'By',
  since: 'Since',
  head: 'Head',
  worktree: 'Worktree',
  branch: 'Branch',
  externalLink: 'opens another site',
  close: 'Close',
  previous: 'Previous stage',
  next: 'Next stage',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit',
  exportSvg: 'Save as SVG',
  exportPng: 'Save as PNG',
  copyLink: 'Copy a link to this view',
  copied: 'Link copied',
  notCopied: 'The browser does not let the link be copied; here it is:',
  notSaved: (format) => `The graph cannot be saved as ${format}`,
  theme: 'Theme',
  themes: { auto: 'as the system', light: 'light', dark: 'dark' },
  otherLanguage: '한국어',
  keys: 'Keyboard',
  keyTable: [
    ['← → ↑ ↓', 'from stage to stage'],
    ['Enter', 'open the stage'],
    ['Esc', 'close, or clear the search'],
    ['/', 'search'],
    ['g  t', 'graph, text'],
    ['n  p', 'next, previous finding'],
    ['+  −  0', 'zoom in, zoom out, fit'],
    ['?', 'this table'],
  ],
  minimap: 'Overview',
  approved: 'approved',
  pending: 'approval pending',
  noApproval: 'no approval line',
  heldBack: (count) => `held back by ${s(count, 'clarification')}`,
  doneOf: (done, all) => `${done} of ${all} done`,
  about: 'Summary',
  records: 'About ledger and evidence',
  compactHint: 'Many stages: lines are drawn for the critical path and for the stage you look at.',
  empty: 'There is no Stage Map that can be read; the findings say why.',
  nothingFound: 'No stage matches.',
  graphLabel: 'Stage graph',
  graphHow: 'Arrow keys go from stage to stage, Enter opens one.',
  panel: 'Stage in full',
  live: 'live',
  liveHint: 'Changes on disk appear here at once.',
  reconnecting: 'reconnecting…',
  ended: 'ended',
  endedHint: 'okstra preview has ended; this is the last it saw.',
  fault: 'The last view is kept:',
  dropHere: 'Drop to open',
  dropTitle: 'See a plan at a glance',
  dropText:
    'Drop a plan, its ledger and its evidence anywhere on this page, or the whole folder of a task.',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  orPaste: 'or paste the text',
  pasteLabel: 'Text of a plan',
  show: 'Show',
  example: 'Look at an example',
  privacy:
    'Nothing leaves this page: it works without a server, and its own policy forbids every connection.',
  open: 'Open another plan',
  dropAdds: 'A ledger or evidence can be dropped later too.',
  noPlanIn: 'None of these files is a plan, a ledger or evidence.',
  noPlanYet: 'Ledger and evidence are kept; now drop the plan.',
  tooMuch: 'That is more than 256 MB of text; choose the folder of one task.',
  cannotRead: (path) => `${path} cannot be read as UTF-8 text`,
  loading: 'Loading…',
};

const ko: Words = {
  states: {
    ready: '준비됨',
    running: '진행 중',
    waiting: '대기',
    done: '완료',
    verified: '검증됨',
    pr: 'PR에 포함',
    reserved: '예약됨',
    cancelled: '취소됨',
    broken: '깨짐',
  },
  inPr: 'PR에 포함',
  meanings: {
    ready: '의존하는 스테이지가 모두 끝나 맡을 수 있습니다',
    running: '세션이 작업하고 있습니다',
    waiting: '의존하는 스테이지가 아직 끝나지 않았습니다',
    done: '증거와 함께 완료되었습니다',
    verified: '완료 후 검증에서 승인되었습니다',
    pr: '완료되어 풀 리퀘스트에 들어 있습니다',
    reserved: '워크트리를 만드는 중입니다',
    cancelled: '계획에서 취소선으로 지워졌습니다',
    broken: '지금 계획으로는 준비될 수 없습니다',
  },
  graph: '그래프',
  text: '본문',
  views: '보기',
  search: '스테이지 검색',
  searchHint: '검색: 제목, 파일, 명령…',
  found: (count, all) => `${all}개 중 ${count}개`,
  filter: '이 상태만 보기',
  clearFilter: '모두 보기',
  wave: (wave) => `웨이브 ${wave}`,
  noWave: '웨이브 없음',
  allWaves: '모든 웨이브',
  waves: (count) => `웨이브 ${count}개`,
  stage: (stage) => `스테이지 ${stage}`,
  stages: (count) => `스테이지 ${count}개`,
  row: '번호 없는 행',
  steps: (count) => `${count}단계`,
  criticalPath: '임계 경로',
  criticalSteps: (steps, all) => `전체 ${all}단계 중 ${steps}단계`,
  onCriticalPath: '임계 경로에 있음',
  waitsFor: '의존',
  waitsForNothing: '없음: 처음부터 시작할 수 있습니다',
  stillWaitsFor: '아직 기다리는 것:',
  unlocks: '다음 스테이지',
  unlocksNothing: '기다리는 스테이지가 없습니다',
  behind: (steps) => `뒤에 이어지는 가장 긴 사슬: ${steps}단계`,
  findings: '발견 사항',
  errors: (count) => `오류 ${count}개`,
  warnings: (count) => `경고 ${count}개`,
  noFindings: '발견 사항이 없습니다.',
  wholePlan: '계획 전체',
  repair: '자동 수정 가능: okstra plan check --fix',
  help: '도움말',
  seeAlso: '함께 볼 곳',
  inText: '본문에서 보기',
  inGraph: '그래프에서 보기',
  line: (line) => `${line}행`,
  source: '계획 본문',
  step: '단계',
  action: '작업',
  files: '파일',
  command: '명령',
  expected: '기대 결과',
  noSteps: '계획에 단계가 없습니다.',
  exitContract: '종료 계약',
  validation: '검증',
  commands: '명령',
  carryIn: '이어받는 것',
  evidence: '증거',
  noEvidence: '아직 없습니다.',
  passed: '통과',
  notPassed: '인정되지 않음',
  stale: '증거가 오래되었습니다',
  builtOn: '이를 바탕으로 한 스테이지',
  completed: '완료 시각',
  commits: '커밋',
  changedFiles: '바뀐 파일',
  identifiers: '새 식별자',
  validations: '통과한 검증',
  observed: 'okstra가 확인함',
  exitCode: (code) => (code === null ? '시그널로 종료' : `종료 코드 ${code}`),
  notes: '메모',
  noted: 'okstra의 메모',
  pullRequest: '풀 리퀘스트',
  verdict: '검증 결과',
  verdicts: { accepted: '승인', 'conditional-accept': '조건부 승인', blocked: '차단' },
  by: '담당',
  since: '시작',
  head: '커밋',
  worktree: '워크트리',
  branch: '브랜치',
  externalLink: '다른 사이트가 열립니다',
  close: '닫기',
  previous: '이전 스테이지',
  next: '다음 스테이지',
  zoomIn: '확대',
  zoomOut: '축소',
  fit: '맞춤',
  exportSvg: 'SVG로 저장',
  exportPng: 'PNG로 저장',
  copyLink: '이 화면의 링크 복사',
  copied: '링크를 복사했습니다',
  notCopied: '브라우저가 링크 복사를 허용하지 않습니다. 직접 복사하세요:',
  notSaved: (format) => `그래프를 ${format}로 저장할 수 없습니다`,
  theme: '테마',
  themes: { auto: '시스템 설정', light: '밝게', dark: '어둡게' },
  otherLanguage: 'English',
  keys: '키보드',
  keyTable: [
    ['← → ↑ ↓', '스테이지 사이 이동'],
    ['Enter', '스테이지 열기'],
    ['Esc', '닫기 또는 검색 지우기'],
    ['/', '검색'],
    ['g  t', '그래프, 본문'],
    ['n  p', '다음, 이전 발견 사항'],
    ['+  −  0', '확대, 축소, 맞춤'],
    ['?', '이 표'],
  ],
  minimap: '전체 보기',
  approved: '승인됨',
  pending: '승인 대기',
  noApproval: '승인 줄 없음',
  heldBack: (count) => `확인할 항목 ${count}개가 막고 있음`,
  doneOf: (done, all) => `${all}개 중 ${done}개 완료`,
  about: '요약',
  records: '원장과 증거에 대하여',
  compactHint: '스테이지가 많아 임계 경로와 보고 있는 스테이지의 선만 그립니다.',
  empty: '읽을 수 있는 Stage Map이 없습니다. 이유는 발견 사항에 있습니다.',
  nothingFound: '맞는 스테이지가 없습니다.',
  graphLabel: '스테이지 그래프',
  graphHow: '화살표 키로 이동하고 Enter로 엽니다.',
  panel: '스테이지 상세',
  live: '실시간',
  liveHint: '디스크의 변경이 바로 나타납니다.',
  reconnecting: '다시 연결하는 중…',
  ended: '종료됨',
  endedHint: 'okstra preview가 끝났습니다. 마지막으로 본 상태입니다.',
  fault: '마지막 화면을 유지합니다:',
  dropHere: '여기에 놓으면 열립니다',
  dropTitle: '계획을 한눈에',
  dropText: '계획, 원장, 증거 파일이나 작업 폴더 전체를 이 페이지에 끌어다 놓으세요.',
  chooseFiles: '파일 선택',
  chooseFolder: '폴더 선택',
  orPaste: '또는 본문을 붙여 넣으세요',
  pasteLabel: '계획 본문',
  show: '보기',
  example: '예시 보기',
  privacy:
    '아무것도 이 페이지 밖으로 나가지 않습니다. 서버가 필요 없고, 페이지의 정책이 모든 연결을 막습니다.',
  open: '다른 계획 열기',
  dropAdds: '원장과 증거는 나중에 놓아도 됩니다.',
  noPlanIn: '계획, 원장, 증거가 아닌 파일입니다.',
  noPlanYet: '원장과 증거를 받았습니다. 이제 계획을 놓으세요.',
  tooMuch: '텍스트가 256MB를 넘습니다. 작업 하나의 폴더를 고르세요.',
  cannotRead: (path) => `${path}: UTF-8 텍스트로 읽을 수 없습니다`,
  loading: '불러오는 중…',
};

const ALL: Record<Language, Words> = { en, ko };

/** The language nearest to a tag such as `ko-KR`; of an unknown one English. */
export function languageOf(tag: string): Language {
  return /^ko\b/i.test(tag) ? 'ko' : 'en';
}

/** What the view says in a language. */
export const wordsOf = (language: Language): Words => ALL[language];
