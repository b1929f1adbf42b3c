import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Command } from 'commander';
import { IN_MEMORY } from '../config-schema.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { USER_FAILURE } from './describe-failure.ts';
import { platformVariables } from './exec-variables.ts';
import { ExitWith } from './exit-with.ts';
import { type EmulatorStarter, withPlatform } from './running-platform.ts';
import type { Terminal } from './terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What shells answer for a command that is not there, or cannot be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const NOTES = `
CMD sees TERRARIUM_BASE_URL, _META_URL, _SECURITY_URL, _GATEWAY_URL, _CRM_URL, _API_KEY, _API_SECRET and _TOKEN,
PLATFORM_API_KEY, PLATFORM_API_SECRET, SCM_API_URL and SCM_TOKEN and, in the demo world, what a pipeline needs besides:
PLATFORM_DEPLOY_URL, PLATFORM_TARGET_ORG_NAME, PLATFORM_TARGET_ENV_UUID, PLATFORM_TARGET_API_UUID, APP_SERVICE_PORT.
Unless flags say otherwise the world is in memory and the ports are free ones, whatever environment and
terrarium.json say. Nothing but CMD writes to standard output.

Exit codes: that of CMD, 128 + n when signal n ended it, ${NOT_FOUND} when there is no such command; 2 something to put
right in what was asked; 1 a fault.`;

/** `terrarium exec -- CMD`: a platform for as long as a command runs. */
export function addExecCommand(program: Command, terminal: Terminal, startEmulator: EmulatorStarter): void {
  const command = program
    .command('exec')
    .description('start a platform, run a command against it, stop it, and pass on how the command ended')
    .argument('<cmd...>', 'the command and its arguments')
    .passThroughOptions()
    .addHelpText('after', NOTES);
  addConfigOptions(command).action(async (words: string[]) => {
    const presets = { data: IN_MEMORY, basePort: '0', gatewayPort: '0', crmPort: '0', scmPort: '0' };
    const found = configOf(command, terminal, presets);
    const { config } = found;
    let received: Signal | undefined;
    let pass: (signal: Signal) => void = () => {};
    for (const signal of SIGNALS) {
      terminal.signals.on(signal, () => {
        received ??= signal;
        // Of the keyboard's Ctrl+C the child has heard itself.
        if (!(terminal.isInteractive && signal === 'SIGINT')) pass(signal);
      });
    }
    const exitCode = await withPlatform(found, terminal, startEmulator, async (emulator) => {
      if (received) return 128 + constants.signals[received];
      const env = { ...terminal.env, ...(await platformVariables(emulator, config)) };
      return run(words, { env, folder: terminal.folder }, (child) => {
        pass = (signal) => child.kill(signal);
      });
    });
    throw new ExitWith(exitCode);
  });
}

type Signal = (typeof SIGNALS)[number];

/** Runs a command to its end; resolves to the exit code that a shell would have for it. */
function run(
  [file = '', ...args]: readonly string[],
  { env, folder }: { env: NodeJS.ProcessEnv; folder: string },
  onStart: (child: ChildProcess) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd: folder, stdio: 'inherit' });
    onStart(child);
    child.on('error', (failure: NodeJS.ErrnoException) => {
      // Without an id it never ran; otherwise a signal could not be sent, and its end is still to come.
      if (child.pid !== undefined) return;
      const exitCode =
        failure.code === 'ENOENT' ? NOT_FOUND : failure.code === 'EACCES' ? NOT_EXECUTABLE : USER_FAILURE;
      reject(new ExitWith(exitCode, `the command '${file}' cannot be run: ${failure.message}`));
    });
    child.on('exit', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 0)));
  });
}
