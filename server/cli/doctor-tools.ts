import { createRequire } from 'node:module';
import { INSTALL_READER } from '../runtimes/pipelines/declaration.ts';
import { runProgram } from '../system/programs.ts';
import { SYSTEM } from '../system/this-system.ts';
import { chooseWindow } from './choose-window.ts';
import { type Check, checkOf } from './doctor-checks.ts';
import type { Terminal } from './terminal.ts';
import { type Onlooker, type WindowChoice, windowContext } from './window-context.ts';

const ASK_TIMEOUT_MS = 5_000;

interface Program {
  name: string;
  why: string;
  debian?: string;
}

const PROGRAMS: readonly Program[] = [
  { name: 'git', why: 'pipelines check out the repository with it' },
  { name: 'bash', why: 'pipelines run their jobs with it' },
  { name: 'curl', why: "the sample's pipeline calls the platform with it" },
  { name: 'docker', why: "the sample's pipeline builds its image with it", debian: 'docker.io' },
];

/** Programs that only pipelines and the window need, each with the command that installs it. */
export async function checkTools(terminal: Onlooker, asked: WindowChoice): Promise<Check[]> {
  const programs = PROGRAMS.map((one) => checkProgram(one, terminal.env));
  return [...(await Promise.all(programs)), checkRunner(), ...checkWindow(terminal, asked)];
}

async function checkProgram({ name, why, debian = name }: Program, env: Terminal['env']): Promise<Check> {
  const said = checkOf(name, false);
  try {
    const { stdout } = await runProgram(name, ['--version'], { env: { ...env }, timeout: ASK_TIMEOUT_MS });
    return said(true, stdout.split('\n', 1)[0]?.trim() ?? '');
  } catch {
    return said(false, `not found, and ${why}: ${installLine(name, debian)}`);
  }
}

export function installLine(name: string, debian: string, system = SYSTEM): string {
  if (name === 'docker' && system === 'darwin') return 'install Docker Desktop, OrbStack or Colima';
  if (name === 'docker' && system === 'win32') return 'install Docker Desktop';
  if (system === 'darwin') return `brew install ${name}`;
  if (system === 'win32') return `pipelines run in WSL; there, run \`sudo apt-get install ${debian}\``;
  return `sudo apt-get install ${debian} (or your package manager)`;
}

export function checkRunner(fetch?: Check['fetch']): Check {
  const said = checkOf('pipelines', false);
  try {
    const manifest = createRequire(import.meta.url)('gitlab-ci-local/package.json');
    return said(true, `gitlab-ci-local ${manifest.version}`);
  } catch {
    return said(false, `gitlab-ci-local is not installed: ${INSTALL_READER}`, fetch);
  }
}

/** Whether Electron is installed, and how the window would open. */
function checkWindow(terminal: Onlooker, asked: WindowChoice): Check[] {
  const context = windowContext(terminal, asked);
  const { electron } = context;
  const electronCheck = checkOf('Electron', false);
  const how = 'fetchInto' in electron ? ': the first start that opens a browser downloads it in the background' : '';
  return [
    'path' in electron
      ? electronCheck(true, electron.path)
      : electronCheck(false, `${electron.missing}${how || ': the window opens in a browser instead'}`),
    checkOf('window', false)(true, chooseWindow(context).line ?? 'No window, as configured.'),
  ];
}
