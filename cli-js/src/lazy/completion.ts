/**
 * Completion scripts for bash, zsh and fish, made from the definitions of the commands.
 *
 * The scripts are static: a press of the tab key starts no Node process. The noun is always the
 * first word and the verb the second, so a script looks up those two and knows what can follow.
 * Where a plan can stand, Markdown files and folders are offered.
 */
import { type Command, type Entries, isNoun, longName, type OptionSpec } from '../cli/define.js';

/** The script for a shell. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish', entries: Entries): string {
  return { bash, zsh, fish }[shell](entries);
}

/** One long option as it is typed. */
interface Flag {
  /** With the dashes. */
  name: string;
  short?: string;
  text: string;
  /** What its value can be: nothing, these words, a file, or something free. */
  value: null | readonly string[] | 'file' | 'free';
}

const HELP: Flag = { name: '--help', short: '-h', text: 'print this help', value: null };

function flagsOf(command: Command): Flag[] {
  const flags = Object.entries(command.options).flatMap(([key, spec]): Flag[] => {
    const name = `--${longName(key)}`;
    if (spec.kind === 'switch') {
      return [
        { name, text: spec.text, value: null },
        { name: `--no-${longName(key)}`, text: spec.off, value: null },
      ];
    }
    const flag: Flag = { name, text: spec.text, value: whatFollows(spec) };
    return [spec.kind === 'file' && spec.short ? { ...flag, short: `-${spec.short}` } : flag];
  });
  return [...flags, HELP];
}

function whatFollows(spec: OptionSpec): Flag['value'] {
  switch (spec.kind) {
    case 'choice':
      return spec.choices;
    case 'file':
      return 'file';
    case 'integer':
    case 'text':
      return 'free';
    default:
      return null;
  }
}

/** Every command with the words that lead to it. */
function commands(entries: Entries): [path: string[], command: Command][] {
  return Object.entries(entries).flatMap(([name, entry]): [string[], Command][] =>
    isNoun(entry)
      ? Object.entries(entry.verbs).map(([verb, command]) => [[name, verb], command])
      : [[[name], entry]],
  );
}

/** The words at the first place, with what they are. */
function firstWords(entries: Entries): [string, string][] {
  return [
    ...Object.entries(entries).map(([name, { summary }]): [string, string] => [name, summary]),
    ['help', 'Print the help of a command'],
  ];
}

/** A word in single quotes for bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function bash(entries: Entries): string {
  const nouns = Object.entries(entries).filter(([, entry]) => isNoun(entry));
  const verbs = nouns.map(
    ([name, entry]) =>
      `    ${name}) words=${quote(Object.keys((entry as { verbs: object }).verbs).join(' '))} ;;`,
  );
  const cases = commands(entries).map(([path, command]) => {
    const flags = flagsOf(command);
    const values = flags
      .filter(({ value }) => value !== null)
      .map(({ name, short, value }) => {
        const pattern = short === undefined ? name : `${name}|${short}`;
        if (value === 'file') return `        ${pattern}) files=any ;;`;
        return `        ${pattern}) words=${quote(Array.isArray(value) ? value.join(' ') : '')} ;;`;
      });
    const { argument } = command;
    const choices = argument === undefined || argument.free ? [] : argument.choices;
    const rest = choices === undefined ? 'files=markdown' : `words=${quote(choices.join(' '))}`;
    return `    ${quote(path.join(' '))})
      flags=${quote(flags.flatMap(({ name, short }) => [name, ...(short ? [short] : [])]).join(' '))}
      case $option in
${values.join('\n')}
        *) ${rest} ;;
      esac
      ;;`;
  });
  return `# okstra completion for bash
_okstra() {
  local current=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD-1]}
  local first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]} place=$COMP_CWORD
  local words='' flags='' files='' word path
  COMPREPLY=()
  # bash takes --name=value for three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $option == '=' ]]; then
    option=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ $place -gt 1 && $first == help ]]; then
    first=$second second=\${COMP_WORDS[3]} place=$((place - 1))
    [[ $place -gt 2 ]] && return
  fi
  path=$first
  case $first in
    ${nouns.map(([name]) => name).join('|')})
      path="$first $second"
      ;;
  esac
  if [[ $place -eq 1 ]]; then
    words=${quote(
      firstWords(entries)
        .map(([name]) => name)
        .join(' '),
    )} flags='--help --version'
    [[ \${COMP_WORDS[1]} == help ]] && flags=''
  elif [[ $place -eq 2 && $path != "$first" ]]; then
    flags='--help'
    case $first in
${verbs.join('\n')}
    esac
  else
    case $path in
${cases.join('\n')}
    esac
  fi
  if [[ $current == -* && -n $flags ]]; then
    words=$flags files=''
  fi
  for word in $words; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do
      if [[ $files == any || -d $word || $word == *.md || $word == *.markdown ]]; then
        COMPREPLY+=("$word")
      fi
    done < <(compgen -f -- "$current")
  fi
}
complete -F _okstra okstra
`;
}

function zsh(entries: Entries): string {
  const list = (pairs: [string, string][]) =>
    pairs.map(([name, text]) => quote(`${name.replaceAll(':', '\\:')}:${text}`)).join(' ');
  const nouns = Object.entries(entries).flatMap(([name, entry]) =>
    isNoun(entry)
      ? [
          `    ${name})
      if (( CURRENT == 3 )); then
        list=(${list(Object.entries(entry.verbs).map(([verb, { summary }]) => [verb, summary]))})
        _describe -t commands ${quote(`${name} command`)} list
        return
      fi
      path_="$words[2] $words[3]" shifted=2
      ;;`,
        ]
      : [],
  );
  // In a specification of _arguments brackets and colons have a meaning.
  const plain = (text: string) => text.replace(/[[\]:\\]/g, '\\$&');
  const cases = commands(entries).map(([path, command]) => {
    const { argument } = command;
    const specs = flagsOf(command).map((flag) => {
      const names = flag.short === undefined ? [flag.name] : [flag.short, flag.name];
      const action =
        flag.value === null
          ? ''
          : flag.value === 'file'
            ? ':file:_files'
            : flag.value === 'free'
              ? ':number: '
              : `:${flag.name.slice(2)}:(${flag.value.join(' ')})`;
      const takes = flag.value === null ? '' : '=';
      return names.map((name) => {
        const joined = name.startsWith('--') ? takes : takes && '+';
        return quote(`${name}${joined}[${plain(flag.text)}]${action}`);
      });
    });
    if (argument === undefined) {
      return `    ${quote(path.join(' '))}) _arguments ${specs.flat().join(' ')} ;;`;
    }
    const words = argument.free ? '' : '_okstra_plans';
    const action = argument.choices ? `(${argument.choices.join(' ')})` : words;
    const positional = quote(`${argument.many === true ? '*' : '1'}:${argument.name}:${action}`);
    return `    ${quote(path.join(' '))}) _arguments ${[...specs.flat(), positional].join(' ')} ;;`;
  });
  return `#compdef okstra
# okstra completion for zsh
_okstra_plans() {
  _files -g '*.(md|markdown)(-.)'
}
_okstra() {
  local path_ shifted=1
  local -a list
  if (( CURRENT > 2 )) && [[ $words[2] == help ]]; then
    (( CURRENT > 4 )) && return
    words=("$words[1]" "\${(@)words[3,-1]}")
    (( CURRENT -= 1 ))
  fi
  if (( CURRENT == 2 )); then
    list=(${list(firstWords(entries))})
    _describe -t commands 'okstra command' list
    [[ $PREFIX == -* ]] && compadd -- --help --version
    return
  fi
  path_=$words[2]
  case $words[2] in
${nouns.join('\n')}
  esac
  # _arguments sees the command itself as its first word.
  words=("$path_" "\${(@)words[shifted+2,-1]}")
  (( CURRENT -= shifted ))
  case $path_ in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _okstra ]]; then
  _okstra "$@"
else
  compdef _okstra okstra
fi
`;
}

function fish(entries: Entries): string {
  const say = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const at = (...words: string[]) => say(['__okstra_at', ...words].join(' '));
  const lines: string[] = [];
  const add = (condition: string, ...rest: string[]) => {
    lines.push(`complete -c okstra -n ${condition} ${rest.join(' ')}`);
  };
  for (const [name, text] of firstWords(entries))
    add(say('__okstra_first'), '-f -a', name, '-d', say(text));
  add(say('__okstra_first'), '-l version -d', say('print the version'));
  for (const [name, entry] of Object.entries(entries)) {
    add(say('__okstra_only help'), '-f -a', name, '-d', say(entry.summary));
    if (!isNoun(entry)) continue;
    for (const [verb, { summary }] of Object.entries(entry.verbs)) {
      add(say(`__okstra_only ${name}`), '-f -a', verb, '-d', say(summary));
      add(say(`__okstra_only help ${name}`), '-f -a', verb, '-d', say(summary));
    }
  }
  for (const [path, command] of commands(entries)) {
    const { argument } = command;
    if (argument?.choices) add(at(...path), '-f -a', say(argument.choices.join(' ')));
    else if (argument && !argument.free) add(at(...path), '-f -k -a', say('(__okstra_plans)'));
    for (const { name, short, text, value } of flagsOf(command)) {
      const takes =
        value === null
          ? []
          : value === 'file'
            ? ['-r -F']
            : Array.isArray(value)
              ? ['-x -a', say(value.join(' '))]
              : ['-x'];
      const letter = short === undefined ? [] : ['-s', short.slice(1)];
      add(at(...path), ...letter, '-l', name.slice(2), ...takes, '-d', say(text));
    }
  }
  return `# okstra completion for fish
function __okstra_words
    commandline -opc | tail -n +2
end
function __okstra_first
    test (count (__okstra_words)) -eq 0
end
function __okstra_only
    set -l words (__okstra_words)
    test "$words" = "$argv"
end
function __okstra_at
    set -l words (__okstra_words)
    set -l wanted (count $argv)
    test (count $words) -ge $wanted; and test "$words[1..$wanted]" = "$argv"
end
function __okstra_plans
    __fish_complete_suffix .md
end
complete -c okstra -f
${lines.join('\n')}
`;
}
