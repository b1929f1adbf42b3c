import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KeptSession } from '../access/window-sessions.ts';
import { type Config, IN_MEMORY } from '../config-schema.ts';
import type { TestEvent } from '../contract/workbench.ts';
import type { StoredResult } from '../gateway/async-results.ts';
import { KeptLines } from '../logs/kept-lines.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { PipelineRun } from '../model/pipeline-run.ts';
import type { World } from '../model/record.ts';
import type { Meeting } from '../publishing/routes.ts';
import type { KeyRecord, TokenRecord } from '../security/credentials.ts';
import type { PastAccount } from '../security/past-accounts.ts';
import { LateCertificate } from '../standins/late-certificate.ts';
import type { Lead, RefusedForm } from '../standins/lead.ts';
import type { KeptScmAccess } from '../standins/scm/scm-place.ts';
import type { ScmProject } from '../standins/scm/scm-state.ts';
import { CappedLog } from '../store/capped-log.ts';
import type { Medium } from '../store/files.ts';
import { type OpenKeyedLog, openKeyedLog } from '../store/keyed-log.ts';
import { NamedSnapshots } from '../store/named-snapshots.ts';
import { keepPrivate } from '../store/private-folder.ts';
import { RecordLogs } from '../store/records/record-logs.ts';
import { openStore } from '../store/world-store.ts';
import { Happenings } from '../traffic/happenings.ts';
import { Recorder } from '../traffic/recorder.ts';
import type { FileLink } from '../workbench/linked-files.ts';
import type { KeptOutboundRules } from '../workbench/outbound-rules.ts';
import { watchStorage } from './storage-watch.ts';
import type { Unwind } from './unwind.ts';

/** Of leads, and of forms that were refused. */
export const LEAD_CAPS = { maxItems: 10_000, maxBytes: 64 * 1024 * 1024 };
/** Of runs of pipelines, with their logs. */
export const RUN_CAPS = { maxItems: 200, maxBytes: 64 * 1024 * 1024 };

/** Everything that a platform keeps, in its data folder or in memory. */
export type Data = Awaited<ReturnType<typeof openData>>;

export interface DataOptions {
  config: Config;
  /** Makes the world of a first start. */
  createWorld(): Promise<World>;
  nowMs(): number;
  onWarning(message: string): void;
}

/**
 * Opens what is kept, or begins it; what it opens is closed by `unwind`.
 *
 * @throws StoreError when the folder is damaged, in use, or not to be used
 */
export async function openData({ config, createWorld, nowMs, onWarning }: DataOptions, unwind: Unwind) {
  const isKept = config.data !== IN_MEMORY;
  const medium: Medium = isKept ? { kind: 'folder', dir: config.data } : { kind: 'memory' };
  const { fsync } = config;
  const store = await openStore({ medium, createWorld, nowMs, fsync, retention: config.history, onWarning });
  unwind.add(() => store.close());
  const { files } = store;
  // Not as it was named: a link in that name may point elsewhere tomorrow.
  const dir = isKept ? files.pathOf('.') : undefined;
  if (dir !== undefined) {
    await keepPrivate(dir, onWarning);
    await keepOutOfVersionControl(dir);
  }
  const logs: OpenKeyedLog<unknown>[] = [];
  const log = async <T>(name: string): Promise<KeyedLog<T>> => {
    const opened = await openKeyedLog<T>(files, { name, fsync, onWarning });
    unwind.add(() => opened.close());
    logs.push(opened);
    return opened;
  };
  const failures = () => {
    const health = store.health();
    return [health.isHealthy ? [] : health.message, logs.flatMap(({ failure }) => failure?.message ?? [])].flat();
  };
  const { keep, ...bounds } = config.records;
  const isOnDisk = isKept && keep === 'disk';
  const records = new RecordLogs({ ...bounds, files: isOnDisk ? files : undefined, nowMs, onWarning });
  const recorder = new Recorder(records, keep !== 'nothing');
  const happenings = new Happenings(records, nowMs);
  const keptLines = new KeptLines(records, keep !== 'nothing');
  await records.open();
  unwind.add(() => records.stop());
  const certificate = new LateCertificate({
    ...(dir !== undefined && { dir }),
    check: () => files.check(),
    nowMs,
    warn: onWarning,
  });
  await certificate.open();
  unwind.add(() => certificate.stop());
  const watch = watchStorage({ failures, tell: onWarning });
  unwind.add(() => watch.stop());
  return {
    store,
    snapshots: new NamedSnapshots(files),
    keys: await log<KeyRecord>('api-keys'),
    tokens: await log<TokenRecord>('tokens'),
    results: await log<StoredResult>('results'),
    leads: new CappedLog(await log<Lead>('leads'), LEAD_CAPS),
    /** Forms that the CRM stand-in did not take. */
    refusedForms: new CappedLog(await log<RefusedForm>('refused-forms'), LEAD_CAPS),
    /** Projects of the source-control stand-in, by id. */
    scm: await log<ScmProject>('scm'),
    /** How that was reached at the last start: what lambdas still name until they follow it. */
    places: await log<KeptScmAccess>('places'),
    pipelines: new CappedLog(await log<PipelineRun>('pipelines'), RUN_CAPS),
    /** Rules about the calls that lambdas make. */
    outbound: await log<KeptOutboundRules>('outbound-rules'),
    /** Files that lambdas' code follows, by lambda. */
    linkedFiles: await log<FileLink>('linked-files'),
    /** Events to try lambdas with, by lambda. */
    testEvents: await log<{ events: TestEvent[] }>('test-events'),
    /** What was last carried between here and other platforms. */
    meetings: await log<Meeting>('meetings'),
    /** Of the window, by the hash of their cookie. */
    sessions: await log<KeptSession>('window-sessions'),
    /** Whoever has or had an account, by id. */
    pastAccounts: await log<PastAccount>('past-accounts'),
    /** Ports of the emulator's own that containers are published on (D-047). */
    servicePorts: await log<{ port: number }>('service-ports'),
    /** What ran, and what it was made of. */
    recorder,
    happenings,
    records,
    /** What lambdas have written. */
    keptLines,
    /** Of the stand-ins. */
    certificate,
    /** The lambdas' own: homes, code, packages. */
    scratchDir: await makeScratch(dir, unwind),
    /** Throws when the folder is no longer ours, so that nothing in it may be touched. */
    check: () => files.check(),
    /** What keeps changes from being saved, a sentence each; nothing while all is well (D-015). */
    failures: () => watch.look(),
  };
}

async function makeScratch(dir: string | undefined, unwind: Unwind): Promise<string> {
  if (dir === undefined) {
    const scratchDir = await mkdtemp(path.join(tmpdir(), 'terrarium-'));
    unwind.add(() => rm(scratchDir, { recursive: true, force: true }));
    return scratchDir;
  }
  const scratchDir = path.join(dir, 'lambdas');
  await mkdir(scratchDir, { recursive: true, mode: 0o700 });
  return scratchDir;
}

/** The folder holds the first API key, and stands in somebody's project (docs/decisions/data-folder.md). */
async function keepOutOfVersionControl(dir: string): Promise<void> {
  await writeFile(path.join(dir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    (failure: NodeJS.ErrnoException) => {
      if (failure.code !== 'EEXIST') throw failure;
    },
  );
}
