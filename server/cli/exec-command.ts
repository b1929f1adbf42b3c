import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Config, IN_MEMORY } from '../platform/config-schema.ts';
import { listeners } from '../platform/declarations.ts';
import type { Emulator } from '../platform/emulator.ts';
import { targetVariables } from '../runtimes/pipelines/target.ts';
import { withLoopbackNoProxy } from '../system/no-proxy.ts';
import { type ChildProcess, exitCodeOf } from '../system/programs.ts';
import { startCommand } from '../system/start-command.ts';
import { defineCommand } from './command.ts';
import { configOf, freePorts, settingOptions } from './config-options.ts';
import { ExitWith, USER_FAILURE } from './describe-failure.ts';
import { rootClient } from './platform-client.ts';
import { withPlatform } from './running-platform.ts';
import { STOP_SIGNALS, type StopSignal } from './stop-signal.ts';
import { issueToken } from './token-command.ts';

/** Exit codes of shells for a command that does not exist, or cannot be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const NOTES = `
CMD receives TERRARIUM_BASE_URL, _META_URL, _SECURITY_URL, _GATEWAY_URL, _CRM_URL, _SCM_URL, _API_KEY, _API_SECRET and _TOKEN,
PLATFORM_API_KEY, PLATFORM_API_SECRET, SCM_API_URL and SCM_TOKEN and, in the demo world, what else a pipeline needs:
PLATFORM_DEPLOY_URL, PLATFORM_TARGET_ORG_NAME, PLATFORM_TARGET_ENV_UUID, PLATFORM_TARGET_API_UUID, APP_SERVICE_PORT.
NO_PROXY and no_proxy include the loopback addresses, so that calls to this machine bypass a proxy.
Unless flags set them, the world is kept in memory and the ports are free ones; environment and terrarium.json
have no effect on these. Calls of lambdas to hosts outside this machine are blocked unless --outbound-default or an outbound
rule lets them pass. Only CMD writes to standard output.

Exit codes: the exit code of CMD, 128 + n if signal n ended it, ${NOT_FOUND} if it does not exist, ${NOT_EXECUTABLE} if it cannot be run;
1 internal error; 2 invalid usage.`;

export const execCommand = defineCommand({
  name: 'exec',
  description: "start a platform, run a command against it, stop the platform, and exit with the command's exit code",
  arguments: [['<cmd...>', 'the command and its arguments']],
  passesOptionsOn: true,
  options: settingOptions,
  notes: NOTES,
  async run({ options, terminal, startEmulator }, ...args) {
    const found = configOf(options, terminal, { data: IN_MEMORY, ...freePorts }, { 'outbound.default': 'block' });
    const { config } = found;
    let received: StopSignal | undefined;
    let pass: (signal: StopSignal) => void = () => {};
    for (const signal of STOP_SIGNALS) {
      terminal.signals.on(signal, () => {
        received ??= signal;
        // A Ctrl+C at the terminal reaches the child directly.
        if (!(terminal.isInteractive && signal === 'SIGINT')) pass(signal);
      });
    }
    const exitCode = await withPlatform(found, terminal, startEmulator, async (emulator) => {
      if (received) return 128 + constants.signals[received];
      const inherited = withLoopbackNoProxy(terminal.env, [config.host]);
      const env = { ...inherited, ...(await platformVariables(emulator, config)) };
      return run(args, { env, folder: terminal.folder }, (child) => {
        pass = (signal) => child.kill(signal);
      });
    });
    throw new ExitWith(exitCode);
  },
});

/** Runs a command; resolves to the exit code that a shell would return for it. */
function run(
  [file = '', ...args]: readonly string[],
  { env, folder }: { env: NodeJS.ProcessEnv; folder: string },
  onStart: (child: ChildProcess) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = startCommand(file, args, { env, cwd: folder, stdio: 'inherit' });
    onStart(child);
    child.on('error', (failure: NodeJS.ErrnoException) => {
      // Without a pid it never ran; otherwise a signal could not be sent, and `exit` follows.
      if (child.pid === undefined) reject(notStarted(file, env.PATH, failure));
    });
    child.on('exit', (code, signal) => resolve(exitCodeOf(code, signal)));
  });
}

/** The error that a shell would print. EACCES also means a missing command, if the user may not read a folder of PATH. */
function notStarted(file: string, path = '', { code, message }: NodeJS.ErrnoException): ExitWith {
  const isPath = /[\\/]/.test(file);
  const exists = isPath ? existsSync(file) : path.split(delimiter).some((folder) => existsSync(join(folder, file)));
  if (!exists && (code === 'ENOENT' || code === 'EACCES'))
    return new ExitWith(NOT_FOUND, `the command '${file}' ${isPath ? 'does not exist' : 'is not in PATH'}`);
  const exitCode = code === 'ENOENT' ? NOT_FOUND : code === 'EACCES' ? NOT_EXECUTABLE : USER_FAILURE;
  return new ExitWith(exitCode, `the command '${file}' cannot be run: ${message}`);
}

/** Environment variables for a command that runs against a platform: addresses and credentials, also under the names that CI jobs expect. */
async function platformVariables(emulator: Emulator, config: Config): Promise<Record<string, string>> {
  const { rootCredentials: root, tour } = emulator;
  const [apiKey, apiSecret] = [root.apiKey, root.apiSecret ?? config.rootApiSecret ?? ''];
  const client = rootClient(emulator, config);
  const token = await issueToken(client, 'root');
  // Other worlds than the demo have no such target.
  const target = await targetVariables(client, { org: 'demo', environment: undefined, api: undefined }).catch(
    () => tour?.deployUrl && { PLATFORM_DEPLOY_URL: tour.deployUrl },
  );
  return {
    ...Object.fromEntries(listeners.map(({ env, url }) => [env, emulator[url]])),
    TERRARIUM_META_URL: emulator.metaUrl,
    TERRARIUM_SECURITY_URL: emulator.securityUrl,
    TERRARIUM_API_KEY: apiKey,
    TERRARIUM_API_SECRET: apiSecret,
    TERRARIUM_TOKEN: token.access_token,
    PLATFORM_API_KEY: apiKey,
    PLATFORM_API_SECRET: apiSecret,
    SCM_API_URL: `${emulator.scmUrl}/api/v4/projects`,
    SCM_TOKEN: emulator.scmToken,
    ...target,
  };
}
