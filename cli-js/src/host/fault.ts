/** The system's errors as one line with a remedy. */
import { HostError } from './host.js';

/** The remedies that depend on what kind of file is worked on. */
interface Remedies {
  directory: string;
  denied: string;
  readOnly: string;
  tooLarge: string;
  /** What is not there, and the remedy; a file that would be read, where nothing else is said. */
  missing?: readonly [what: string, help: string];
}

/** A plan or a report: a file people name. */
const PLAN: Remedies = {
  directory: 'give a Markdown file in it',
  denied: 'check the rights of the file',
  readOnly: 'copy the plan first',
  tooLarge: 'split the plan',
};

/** A ledger or evidence: a file whose path follows from the plan's. */
export const RECORD: Remedies = {
  directory: 'a file belongs there; move the folder away',
  denied: 'check the rights of the file and of its folder',
  readOnly: 'mount it writable or work on a copy of the project',
  tooLarge: 'move old rows to another file',
};

/** Something below the folder of okstra itself. */
export const OWN: Remedies = {
  directory: 'a file belongs there; move the folder away',
  denied: 'check the rights of the folder or name another one in OKSTRA_HOME',
  readOnly: 'name a folder that can be written in OKSTRA_HOME',
  tooLarge: 'name another folder in OKSTRA_HOME',
};

/** A file that a person wants something written into. */
export const OUTPUT: Remedies = {
  directory: 'name a file in it',
  denied: 'check the rights of its folder',
  readOnly: 'name a file elsewhere',
  tooLarge: 'name a file on another disk',
  missing: ['there is no such folder', 'make it first'],
};

/** The system's error as one line with a remedy. */
export function explain(error: unknown, file: string, remedies = PLAN): HostError {
  if (error instanceof HostError) return error;
  switch (codeOf(error)) {
    case 'ENOENT': {
      const [what, help] = remedies.missing ?? ['no such file', 'check the path'];
      return new HostError('missing', file, what, help);
    }
    case 'ENOTDIR':
      return new HostError('missing', file, 'a part of the path is no folder', 'check the path');
    case 'EISDIR':
      return new HostError('directory', file, 'a folder', remedies.directory);
    case 'EACCES':
    case 'EPERM':
      return new HostError('denied', file, 'permission denied', remedies.denied);
    case 'EROFS':
      return new HostError('denied', file, 'the file system is read-only', remedies.readOnly);
    case 'ENAMETOOLONG':
      return new HostError('missing', file, 'the name is too long', 'check the path');
    case 'ELOOP':
      return new HostError('other', file, 'symbolic links in a circle', 'mend the link');
    case 'ENOSPC':
    case 'EDQUOT':
      return new HostError('no-space', file, 'no space left on the disk', 'make room');
    case 'EEXIST':
      return new HostError(
        'other',
        file,
        'a temporary file is in the way',
        'run the command again',
      );
    case 'EFBIG':
    case 'ERR_FS_FILE_TOO_LARGE':
    case 'ERR_STRING_TOO_LONG':
      return new HostError('too-large', file, 'too large', remedies.tooLarge);
    default: {
      const code = codeOf(error);
      const message = code === '' ? String(error) : `the system says ${code}`;
      return new HostError('other', file, message, 'check the file');
    }
  }
}

/** What went wrong with reading: whatever the cause, the input cannot be read. */
export function unreadable(error: unknown, file: string, remedies = PLAN): HostError {
  const known = explain(error, file, remedies);
  return known.reason === 'other'
    ? new HostError('unreadable', file, known.message, known.help)
    : known;
}

/** The name the system has for an error, `''` where it has none. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}
