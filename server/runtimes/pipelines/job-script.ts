import { shellWord } from '../../model/shell-command.ts';
import type { JobDefinition } from './definition-schema.ts';
import { spanMs } from './time-span.ts';

/** Comes before the output of `after_script`. */
export const AFTER_TITLE = 'Running after_script';

/** Time limit of `after_script` in seconds, as on GitLab, unless the variable RUNNER_AFTER_SCRIPT_TIMEOUT has another one. */
const AFTER_LIMIT_S = 300;

/**
 * The files that run a job, in whatever shell there is: the driver starts the script and, in a shell of its own, what comes after
 * it, and ends with the script's exit code. It finds the others in the folder that is its first argument; the second is where the
 * job works.
 */
export function jobScripts(
  { before_script: before, script, after_script: after }: JobDefinition,
  { RUNNER_AFTER_SCRIPT_TIMEOUT: limit }: Readonly<Record<string, string>>,
): Record<string, string> {
  const hasAfter = (after ?? []).length > 0;
  const limitS = Math.ceil((spanMs(limit) ?? AFTER_LIMIT_S * 1_000) / 1_000);
  return {
    run: `#!/bin/sh
at=$1
cd "$2" || exit 1
exec </dev/null 2>&1
for shell in /usr/local/bin/bash /usr/bin/bash /bin/bash /busybox/sh /bin/sh sh; do
  if command -v "$shell" >/dev/null 2>&1; then break; fi
done
"$shell" "$at/script"
code=$?
${
  hasAfter
    ? `if [ $code -eq 0 ]; then CI_JOB_STATUS=success; else CI_JOB_STATUS=failed; fi
export CI_JOB_STATUS
echo '${AFTER_TITLE}'
( sleep ${limitS} && { ( : >"$at/late" ); read -r after <"$at/after.pid"; kill -9 $after; } ) >/dev/null 2>&1 &
limit=$!
exec 3>&1
# In the foreground, because the programs of a background job ignore interrupts. The shell's message about a killed process is left out.
{ "$shell" -c 'echo $$ >"$1/after.pid"; exec 2>&3 3>&-; exec "$0" "$1/after_script"' "$shell" "$at"; } 2>/dev/null
after=$?
kill $limit 2>/dev/null
if [ -e "$at/late" ]; then echo 'after_script exceeded its time of ${limitS} s and was ended: it is ignored'
elif [ $after -ne 0 ]; then echo "after_script ended with exit code $after: it is ignored"; fi
`
    : ''
}exit $code
`,
    script: scriptText([...(before ?? []), ...(script ?? [])]),
    ...(hasAfter && { after_script: scriptText(after ?? []) }),
  };
}

export const commandsOf = ({ before_script, script, after_script }: JobDefinition): string[] =>
  [before_script, script, after_script].flatMap((part) => part ?? []);

/** Commands, each said before it is done; the first that fails ends them. */
function scriptText(commands: readonly string[]): string {
  // Only built-in commands of the shell, because an image may have no others.
  const head = 'case "$(set -o)" in *pipefail*) set -o pipefail ;; esac\nset -e\n';
  return `${head}${commands.map((command) => `printf '%s\\n' ${shellWord(formatCommand(command))}\n${command}\n`).join('')}`;
}

function formatCommand(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  return `${COMMAND_MARK}${first}${more.length > 0 ? ' # and more' : ''}`;
}

/** Before a command that is said: what scripts print by themselves has no such sign. */
export const COMMAND_MARK = '\u0001$ ';
