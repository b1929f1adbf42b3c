import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jsonBody } from '../api/client/route-client.ts';
import { requestText } from '../api/client/send-request.ts';
import { historyRoutes, resetRoutes } from '../api/routes/history.ts';
import { outboundRoutes } from '../api/routes/outbound.ts';
import { recordedRoutes } from '../api/routes/recorded.ts';
import type { AppliedSeed } from '../api/routes/seeds.ts';
import { workbenchRoutes } from '../api/routes/workbench.ts';
import { reasonOf } from '../model/errors.ts';
import { OWN_CRM } from '../model/outbound-rule.ts';
import { WEB_FORM } from '../model/web-form.ts';
import { type ConfigWithOrigins, UserError } from '../platform/config.ts';
import type { Emulator } from '../platform/emulator.ts';
import { packageFile } from '../system/package-file.ts';
import { hasChanges, planLines, type ReadSeed, sendSeed } from './apply-command.ts';
import { browserContext, chooseWindow } from './choose-window.ts';
import { describeFailure } from './describe-failure.ts';
import type { DevProject } from './dev-project.ts';
import { type PlatformClient, rootClient } from './platform-client.ts';
import { endpointRows, type Published, readPublished } from './published-endpoints.ts';
import { localTime, RequestLog } from './request-log.ts';
import { showWindow } from './show-window.ts';
import { printLines, rowLines, styled, type Terminal } from './terminal.ts';
import { WatchedFolder } from './watched-folder.ts';

const MAX_NAMED_FILES = 5;
const INVOCATION_TIMEOUT_MS = 1_200_000;
/** The rule of the key that makes the CRM fail. */
const FAILING_CRM = { host: OWN_CRM, action: 'answer', status: 503, times: 1 } as const;
/** Files that the runtime of lambdas reads again by itself, except for JSON, which can be data that a program writes all the time. */
const CODE_FILE = /\.([cm]?[jt]s|node|wasm)$/i;
const SCRIPT_FILE = /\.[cm]?[jt]s$/;
/** `Unexpected token (3:11)`, after a prefix that names the file. */
const PARSER_MESSAGE = /^(?:Error transforming .*?: )?(.*) \((\d+):(\d+)\)$/;

type Action = 'sendForm' | 'repeat' | 'failCrm' | 'openWindow' | 'undo' | 'reset' | 'showKeys';

const KEYS: readonly (readonly [key: string, action: Action, description: string])[] = [
  ['f', 'sendForm', 'send sample form'],
  ['r', 'repeat', 'repeat last call'],
  ['x', 'failCrm', 'fail the CRM once'],
  ['o', 'openWindow', 'open window'],
  ['z', 'undo', 'undo'],
  ['0', 'reset', 'back to seed'],
  ['?', 'showKeys', 'all keys'],
];

export const keyLines = () => [...KEYS.map(([key, , description]) => `  ${key}  ${description}`), '  Ctrl+C  stop'];

interface LambdaDebugger {
  lambda: string;
  /** Address for a debugger. It stays the same in later runs. */
  url: string;
}

/** The parser of the runtime of lambdas, which is bundled separately. */
interface Parser {
  transform(source: string, options: object): unknown;
}

interface DevOptions {
  project: DevProject;
  /** The project's world when the command started. */
  seed: ReadSeed;
  emulator: Emulator;
  found: ConfigWithOrigins;
  terminal: Terminal;
  isJson: boolean;
  /** Starts debuggers and writes the configuration that attaches to them. */
  isDebugging: boolean;
  startedMs: number;
  stopSignal: Promise<string>;
}

/** A platform at work on a project: applies what is saved, prints requests and acts on keys. */
export class DevSession {
  readonly #options: DevOptions;
  readonly #client: PlatformClient;
  #applied: AppliedSeed | undefined;
  #published: Published = { lambdas: [], endpoints: [] };
  readonly #debuggers: LambdaDebugger[] = [];
  #requestLog: RequestLog | undefined;
  /** The document that was applied last. */
  #content = '';
  /** The message about files that cannot be applied. */
  #lastMistake: string | undefined;
  /** Newest commit that the key does not undo. */
  #firstSeq = 0;
  /** Commits that were undone, and those that undid them. */
  readonly #undoneSeqs = new Set<number>();
  #work: Promise<void> = Promise.resolve();
  #isStopping = false;
  readonly #stops: (() => unknown)[] = [];

  private constructor(options: DevOptions) {
    this.#options = options;
    this.#client = rootClient(options.emulator, options.found.config);
  }

  static async start(options: DevOptions): Promise<DevSession> {
    const session = new DevSession(options);
    await session.#begin();
    return session;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const stop of this.#stops) await stop();
    await this.#work;
  }

  async #begin(): Promise<void> {
    const { project, seed, terminal, isJson } = this.#options;
    const earlierSeq = await this.#newestSeq();
    let isNewWorld = true;
    await this.#reportFailure(async () => {
      const plan = await sendSeed(this.#client, seed, { dryRun: true, prune: false });
      isNewWorld = plan.changes.every(({ action, path }) => action === 'create' || path === '/');
      if (isNewWorld || !hasChanges(plan) || (await this.#isConfirmed(plan))) {
        await this.#apply(seed);
        return;
      }
      this.#content = seed.content;
      await this.#readPublished(plan);
    });
    // In a world of an earlier run, what the files have changed since can be undone.
    this.#firstSeq = isNewWorld ? await this.#newestSeq() : earlierSeq;
    this.#requestLog = await RequestLog.start(this.#client, terminal, { isJson });
    const watched = new WatchedFolder(project.folder, (files) => this.#enqueue(() => this.#saved(files)));
    this.#stops.push(() => watched.stop());
    // The files may have been saved between the reading for this start and the watching.
    this.#enqueue(async () => {
      const { content } = await project.read(terminal.env);
      if (content !== seed.content) await this.#saved([project.file]);
    });
    if (this.#options.isDebugging)
      await this.#reportFailure(async () => {
        for (const lambda of this.#published.lambdas) this.#debuggers.push(await startDebugging(this.#client, lambda));
      });
    this.#printSummary();
    if (this.#debuggers.length > 0)
      await this.#reportFailure(async () => {
        const message = writeLaunchFile(project.folder, this.#debuggers);
        this.#report('note', { message }, message);
      });
    if (watched.isCut) {
      const text =
        'only a part of the folders is watched, because there are very many. Save the world file to apply other changes.';
      this.#report('warning', { message: text }, text);
    }
    if (terminal.isInteractive && !isJson) this.#stops.push(terminal.readKeys((key) => this.#pressed(key)));
  }

  /** Shows what the files would change in a world of an earlier run, and waits for a key. Without a person, the answer is yes. */
  async #isConfirmed(plan: AppliedSeed): Promise<boolean> {
    const { terminal, isJson, stopSignal } = this.#options;
    if (!terminal.isInteractive || isJson) return true;
    printLines(planLines(plan, terminal), terminal);
    terminal.print(
      `The world of the last run differs from the files. ${styled(terminal, 'bold', 'y')} apply   any other key: keep it until the next save`,
    );
    let endKeys: () => void = () => {};
    const key = new Promise<string>((resolve) => {
      endKeys = terminal.readKeys(resolve);
    });
    const answer = await Promise.race([key, stopSignal]);
    endKeys();
    return answer.toLowerCase() === 'y';
  }

  #printSummary(): void {
    const { project, emulator, terminal, isJson, startedMs } = this.#options;
    const { baseUrl, gatewayUrl, dataDir } = emulator;
    const windowUrl = emulator.windowUrl();
    const { folder, file, name } = project;
    const readyMs = Math.round(terminal.nowMs() - startedMs);
    if (isJson) {
      const { endpoints } = this.#published;
      const debuggers = this.#options.isDebugging ? { debuggers: this.#debuggers } : {};
      const ready = { folder, file, baseUrl, gatewayUrl, windowUrl, dataDir, endpoints, ...debuggers, readyMs };
      terminal.print(JSON.stringify({ kind: 'ready', ...ready }));
      return;
    }
    const rows = [
      [name, join(folder, file), `ready in ${(readyMs / 1000).toFixed(1)} s`],
      ...endpointRows(this.#published),
      ['window', windowUrl, ''],
      ...this.#debuggers.map(({ lambda, url }) => ['debugger', url, `> ${lambda}`]),
    ];
    printLines(
      rowLines(rows).map((line) => `  ${line}`),
      terminal,
    );
    const keys = KEYS.map(([key, , description]) => `${styled(terminal, 'bold', key)} ${description}`).join('   ');
    if (terminal.isInteractive) terminal.print(`  ${keys}`);
    terminal.print('');
  }

  /** Applies a document, unless it was the last one. */
  async #apply(seed: ReadSeed): Promise<AppliedSeed | undefined> {
    if (seed.content === this.#content) return undefined;
    const applied = await sendSeed(this.#client, seed, { dryRun: false, prune: false });
    this.#content = seed.content;
    await this.#readPublished(applied);
    return applied;
  }

  async #readPublished(applied: AppliedSeed): Promise<void> {
    this.#applied = applied;
    this.#published = await readPublished(this.#client, applied);
  }

  async #saved(changedFiles: readonly string[]): Promise<void> {
    const { project, terminal } = this.#options;
    const exists = (file: string) => existsSync(join(project.folder, file));
    const isOfWorld = (file: string) => [project.file, 'package.json', '.env'].includes(file);
    const isOfProject = (file: string) => isOfWorld(file) || CODE_FILE.test(file);
    // Programs write a new file under another name first.
    const files = changedFiles.filter((file) => isOfProject(file) || exists(file));
    if (files.length === 0) return;
    const startedMs = terminal.nowMs();
    for (const file of files) {
      const mistake = syntaxError(project.folder, file);
      if (mistake !== undefined)
        return this.#report('error', { files, message: mistake }, styled(terminal, 'red', mistake));
    }
    // What was undone, or kept from the last run, is applied again.
    if (files.some(isOfWorld)) this.#content = '';
    let applied: AppliedSeed | undefined;
    const isCorrected = this.#lastMistake !== undefined;
    try {
      applied = await this.#apply(await project.read(terminal.env));
      this.#lastMistake = undefined;
    } catch (failure) {
      const isRepeated = messageOf(failure) === this.#lastMistake;
      this.#lastMistake = messageOf(failure);
      // Another file, such as this command's output, must not repeat the message.
      if (isRepeated && !files.some(isOfProject)) return;
      throw failure;
    }
    const codeFiles = files.filter((file) => CODE_FILE.test(file));
    const namedFiles = applied || isCorrected ? files : codeFiles;
    if (namedFiles.length === 0) return;
    const ms = Math.round(terminal.nowMs() - startedMs);
    const unappliedOutcome = codeFiles.length > 0 ? 'the next call uses it' : 'nothing has changed';
    const outcome =
      applied?.commit === undefined ? unappliedOutcome : `applied in ${ms} ms as commit ${applied.commit}`;
    const fields = { files: namedFiles, commit: applied?.commit, durationMs: ms };
    const shownFiles = namedFiles.map((file) => (exists(file) ? file : `${file} (deleted)`));
    this.#report('saved', fields, `saved ${listOf(shownFiles)}  ${outcome}`);
  }

  #pressed(key: string): void {
    const action = KEYS.find(([name]) => name === key.toLowerCase())?.[1];
    // A call can take long; it must not delay what comes after it.
    if (action === 'sendForm' || action === 'repeat') void this.#reportFailure(this.#actions[action]);
    else if (action) this.#enqueue(this.#actions[action]);
  }

  readonly #actions: Readonly<Record<Action, () => Promise<void>>> = {
    sendForm: () => this.#sendForm(),
    repeat: () => this.#repeat(),
    failCrm: () => this.#failCrm(),
    openWindow: () => this.#openWindow(),
    undo: () => this.#undo(),
    reset: () => this.#reset(),
    showKeys: async () => printLines(keyLines(), this.#options.terminal),
  };

  async #failCrm(): Promise<void> {
    const { rules, revision } = await this.#client.ask(outboundRoutes.readOutboundRules);
    const otherRules = rules.filter((rule) =>
      Object.entries(FAILING_CRM).some(([name, value]) => Object(rule)[name] !== value),
    );
    const body = jsonBody({ rules: [FAILING_CRM, ...otherRules], revision });
    await this.#client.ask(outboundRoutes.replaceOutboundRules, body);
    this.#report('rule', FAILING_CRM, `the next CRM call gets ${FAILING_CRM.status} (once)`);
  }

  async #sendForm(): Promise<void> {
    const endpoint = this.#published.endpoints.find(({ methods }) => methods.length === 0 || methods.includes('POST'));
    if (!endpoint) return this.#report('note', {}, 'no endpoint of this project accepts POST');
    const headers = { 'Content-Type': 'application/json' };
    const limits = { headMs: INVOCATION_TIMEOUT_MS, totalMs: INVOCATION_TIMEOUT_MS };
    const body = JSON.stringify(WEB_FORM);
    await requestText(endpoint.url, { method: 'POST', headers, body, limits, linkLocal: 'all' }).catch(
      (cause: Error) => {
        throw new UserError(`${endpoint.url} does not respond: ${cause.message}`, { cause });
      },
    );
  }

  async #repeat(): Promise<void> {
    const executionId = this.#requestLog?.lastExecutionId;
    if (executionId === undefined)
      return this.#report('note', {}, 'nothing was called yet. Press f to send the sample form.');
    const call = { path: { execution_id: executionId }, timeoutMs: INVOCATION_TIMEOUT_MS };
    await this.#client.ask(recordedRoutes.replayInvocation, call);
  }

  async #openWindow(): Promise<void> {
    const { terminal, emulator, found } = this.#options;
    const page = await showWindow(chooseWindow(browserContext(terminal, found)), () => emulator.windowUrl(), terminal);
    if (page) this.#stops.push(() => page.close());
  }

  /** Undoes the newest change since the start that was not undone. */
  async #undo(): Promise<void> {
    const { commits } = await this.#client.ask(historyRoutes.listCommits, { query: { limit: '100' } });
    const commit = commits.find(({ seq }) => seq > this.#firstSeq && !this.#undoneSeqs.has(seq));
    if (!commit) return this.#report('note', {}, 'nothing has changed since the start');
    const paths = await this.#revert(commit.seq);
    if (this.#applied) await this.#readPublished(this.#applied);
    this.#report('undone', { commit: commit.seq }, `undone: commit ${commit.seq}  ${paths.join(', ')}`);
  }

  /** Reverts a commit. Returns the paths of the resources in it. */
  async #revert(seq: number): Promise<string[]> {
    const { commit } = await this.#client.ask(historyRoutes.revertCommit, { path: { commit_seq: String(seq) } });
    for (const undone of [seq, commit?.seq]) if (undone !== undefined) this.#undoneSeqs.add(undone);
    return commit?.resources.map(({ path }) => path) ?? [];
  }

  async #reset(): Promise<void> {
    const { project, terminal } = this.#options;
    const seed = await project.read(terminal.env);
    const { rules } = await this.#client.ask(outboundRoutes.readOutboundRules);
    await this.#client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [] }));
    const { commit } = await this.#client.ask(resetRoutes.resetWorld, { json: { seed: 'empty' } });
    this.#content = '';
    try {
      await this.#apply(seed);
    } catch (failure) {
      // A mistake in the files must not leave an empty world.
      await this.#client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules }));
      if (commit !== undefined) await this.#revert(commit);
      throw failure;
    }
    this.#firstSeq = await this.#newestSeq();
    this.#report('reset', {}, `back to the seed and the outbound rules in ${project.file}. Leads and records stay.`);
  }

  async #newestSeq(): Promise<number> {
    const { commits } = await this.#client.ask(historyRoutes.listCommits, { query: { limit: '1' } });
    return commits[0]?.seq ?? 0;
  }

  /** Runs what changes the world one after the other. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(() => this.#reportFailure(work));
  }

  /** Reports a failure in one sentence and goes on. */
  async #reportFailure(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      // The platform ends calls that keys have made.
      if (this.#isStopping) return;
      const message = messageOf(failure);
      this.#report('error', { message }, styled(this.#options.terminal, 'red', message));
    }
  }

  #report(kind: string, fields: object, text: string): void {
    const { terminal, isJson } = this.#options;
    const at = new Date().toISOString();
    if (isJson) terminal.print(JSON.stringify({ kind, at, ...fields }));
    else printLines(`${styled(terminal, 'dim', localTime(at).slice(-8))} ${text}`.split('\n'), terminal);
  }
}

function messageOf(failure: unknown): string {
  return describeFailure(failure).text || reasonOf(failure);
}

function listOf(files: readonly string[]): string {
  const more = files.length - MAX_NAMED_FILES;
  return `${files.slice(0, MAX_NAMED_FILES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The first syntax error in a script, with its line; undefined if there is none, or the file is none. */
export function syntaxError(folder: string, file: string): string | undefined {
  if (!SCRIPT_FILE.test(file)) return undefined;
  const parser = createRequire(import.meta.url)(packageFile('dist/server/lambda-typescript.cjs')) as Parser;
  try {
    const source = readFileSync(join(folder, file), 'utf8');
    // JSX is no mistake in a script that is not the lambda's.
    const transforms = [/ts$/.test(file) ? 'typescript' : 'jsx', 'imports'];
    parser.transform(source, { transforms, jsxRuntime: 'preserve', disableESTransforms: true, filePath: file });
    return undefined;
  } catch (failure) {
    const [, reason, line, column] = PARSER_MESSAGE.exec(reasonOf(failure)) ?? [];
    return reason === undefined ? undefined : `${file}:${line}:${column}: ${reason}`;
  }
}

const LAUNCH_FILE = join('.vscode', 'launch.json');
const POLL_MS = 50;
const MAX_POLLS = 200;

/** Starts debugging a lambda. Throws an error of one sentence when the platform rejects it or its process does not start. */
async function startDebugging(
  client: PlatformClient,
  { id, name }: { id: string; name: string },
): Promise<LambdaDebugger> {
  const path = { lambda_id: id };
  await client.ask(workbenchRoutes.debugLambda, { path });
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const { debug } = await client.ask(workbenchRoutes.readWorkbench, { path });
    if (debug?.url !== undefined) return { lambda: name, url: debug.url };
    if (debug?.problem !== undefined) throw new UserError(`${name} cannot be debugged: ${debug.problem}`);
    await delay(POLL_MS);
  }
  throw new UserError(`${name} cannot be debugged: its process does not listen. Its log may say why.`);
}

/** Writes the configuration with which VS Code attaches, unless the folder has one. Returns a sentence about the file. */
function writeLaunchFile(folder: string, debuggers: readonly LambdaDebugger[]): string {
  const file = join(folder, LAUNCH_FILE);
  const configurations = debuggers.map(({ lambda: name, url: websocketAddress }) => ({
    ...{ type: 'node', request: 'attach', name, websocketAddress },
    ...{ restart: true, continueOnAttach: true },
  }));
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ version: '0.2.0', configurations }, null, 2)}\n`);
    return `wrote ${LAUNCH_FILE}. Start debugging with F5 in VS Code. Do not commit the file: it contains the secret addresses of the debuggers.`;
  }
  const text = readFileSync(file, 'utf8');
  const missing = configurations.filter(({ websocketAddress }) => !text.includes(websocketAddress));
  if (missing.length === 0) return `${LAUNCH_FILE} has the debuggers. Start debugging with F5 in VS Code.`;
  const lines = missing.map((configuration) => `  ${JSON.stringify(configuration)}`);
  return `${LAUNCH_FILE} exists and was left as it is. Add to its "configurations":\n${lines.join(',\n')}`;
}
