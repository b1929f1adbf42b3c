import { z } from 'zod';

const id = z.uuid();
const time = z.iso.datetime();
const seq = z.int().min(0);
const operations = z
  .array(z.looseObject({ op: z.string(), path: z.string() }))
  .describe('RFC 6902, on the world: `/resources/{id}/...`');
const path = z.string().describe('Names from the root organization down; `/` is that itself');
const about = { id, type: z.string().describe('Type name after the prefix'), name: z.string(), path };

const commit = z.object({
  seq,
  at: time,
  cause: z.looseObject({
    actor: z.object({ id, name: z.string() }).nullable().describe('Null for the emulator itself'),
    via: z.enum(['api', 'ui', 'cli', 'seed', 'engine', 'startup', 'file']),
    requestId: z.string().optional(),
    action: z.string().optional(),
    note: z.string().optional().describe('What was brought back, such as `revert of commit 12`'),
  }),
  ops: operations,
  inverse: operations,
  resources: z.array(z.object(about)).describe('Those that it changed, as it left them'),
});

const snapshot = z.object({
  name: z.string(),
  seq: seq.describe('The last commit that it contains'),
  at: time.describe('When it was made'),
  sizeBytes: z.int(),
});

const storedRecord = z.looseObject({ id, type: z.string(), name: z.string(), properties: z.looseObject({}) });

/** What time travel is sent and answers. */
export const historySchemas = {
  Commit: commit,
  CommitPage: z.object({
    commits: z.array(commit),
    next: z.int().optional().describe('`before` of the next page; absent when there is none'),
  }),
  ImportedArchive: z.object({
    commit: commit.optional().describe('Absent when the world was as in the archive already'),
    leads: z.int().describe('How many were not there before'),
    hidden: z.array(z.object(about)).describe('Resources whose passwords, values or credentials have to be set anew'),
  }),
  MadeCommit: z.object({ commit: commit.optional() }),
  RestoreWish: z.object({ at: z.union([seq, z.string()]).describe('Number of a commit, or an ISO time') }),
  Snapshot: snapshot,
  SnapshotWish: z.object({ name: z.string() }),
  StoredRecord: storedRecord,
  WorldFile: z.looseObject({
    format: z.literal(1),
    id,
    seq: seq.describe('The last commit that it contains'),
    resources: z.record(z.string(), storedRecord),
  }),
  WorldDifference: z.object({
    from: seq,
    to: seq,
    ops: operations,
    resources: z.array(z.object({ ...about, action: z.enum(['create', 'update', 'delete']) })),
  }),
};
