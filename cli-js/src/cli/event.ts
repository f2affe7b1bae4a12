/** What the host itself has to know of a hook's event, to find out whether there is anything to do. */

/** An event that came in. */
export interface Incoming {
  name: string;
  /** The session, as its claims name it. */
  session: string;
  /** The folder the session is in. */
  cwd: string;
  /** The file a tool works on, absolute. */
  file?: string;
  /** Whether the tool edits that file. */
  edits: boolean;
  /** The event itself. */
  value: Readonly<Record<string, unknown>>;
}

/** Everything the supported clients send; okstra reacts to six of them. */
const EVENTS = new Set([
  ...['SessionStart', 'SessionEnd', 'Setup', 'UserPromptSubmit', 'UserPromptExpansion'],
  ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch'],
  ...['PermissionRequest', 'PermissionDenied', 'Notification', 'MessageDisplay'],
  ...['SubagentStart', 'SubagentStop', 'Stop', 'StopFailure', 'TeammateIdle'],
  ...['TaskCreated', 'TaskCompleted', 'PreCompact', 'PostCompact', 'InstructionsLoaded'],
  ...['ConfigChange', 'CwdChanged', 'FileChanged', 'DirectoryAdded'],
  ...['WorktreeCreate', 'WorktreeRemove', 'Elicitation', 'ElicitationResult'],
  ...['PreModelSwitch', 'PostModelSwitch', 'PreSkillShellCommand'],
]);

const EDITS = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

/** Reads an event. It throws where this is none, with the reason. */
export function incoming(
  bytes: Uint8Array,
  env: Readonly<Record<string, string | undefined>>,
): Incoming {
  if (bytes.length === 0) throw new Error('standard input is empty; an event is expected there');
  let value: Record<string, unknown>;
  try {
    // What is no UTF-8 is no JSON, or is in a text that nobody looks at.
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch (error) {
    throw new Error(`the event is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('the event is no JSON object');
  }
  const name = textOf(value.hook_event_name);
  if (name === undefined) throw new Error('the event has no hook_event_name');
  if (!EVENTS.has(name)) throw new Error(`there is no event '${name.slice(0, 60)}'`);
  // As a claim finds its session; the client gives its commands the same name.
  const session = textOf(env.OKSTRA_SESSION) ?? textOf(value.session_id);
  if (session === undefined) throw new Error('the event has no session_id');
  const input = (value.tool_input ?? {}) as Readonly<Record<string, unknown>>;
  const file = textOf(input.file_path) ?? textOf(input.notebook_path);
  return {
    name,
    session,
    cwd: textOf(value.cwd) ?? '',
    ...(file === undefined ? {} : { file }),
    edits: EDITS.has(textOf(value.tool_name) ?? ''),
    value,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
