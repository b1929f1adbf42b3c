import { randomUUID } from 'node:crypto';
import { Recorder } from '../server/inspector/recorder/recorder.ts';
import { mapLead } from '../server/mocks/crm/lead.ts';
import type { Invocation, LambdaCall, Outcome } from '../server/model/invocation.ts';
import type { StoredResource } from '../server/model/record.ts';
import { CleanupStack } from '../server/platform/cleanup-stack.ts';
import { completeOptions } from '../server/platform/config.ts';
import { type Data, openData } from '../server/platform/data.ts';
import { RecordLogs } from '../server/storage/records/record-logs.ts';

/** Number of records in a batch. */
const BATCH = 1_000;

/** Opens the data folder of a stopped platform, adds records the way the platform does, and closes it. */
async function withData(dataDir: string, add: (data: Data) => Promise<void>): Promise<void> {
  const unwind = new CleanupStack();
  const options = {
    config: completeOptions({ data: dataDir, fsync: 'never' }),
    createWorld: () => Promise.reject(new Error(`${dataDir} holds no world`)),
    nowMs: Date.now,
    onWarning(message: string) {
      throw new Error(message);
    },
  };
  try {
    await add(await openData(options, unwind));
  } finally {
    await unwind.run();
  }
}

/** Some lambda of the world. */
function lambdaOf({ store }: Data, name: string): StoredResource {
  const found = [...store.world.resources.values()].find(
    (resource) => resource.name === name && resource.type.endsWith('::Lambda'),
  );
  if (!found) throw new Error(`there is no lambda ${name}`);
  return found;
}

/** Adds commits that change the description of a lambda: `text 1` and so on. */
export async function growHistory(dataDir: string, lambdaName: string, count: number): Promise<void> {
  await withData(dataDir, async (data) => {
    const { store } = data;
    const lambda = lambdaOf(data, lambdaName);
    const describe = (text: number) =>
      store.commit(
        { put: [{ ...lambda, description: `text ${text}` }] },
        { actor: { id: lambda.owner, name: 'root' }, via: 'api', action: 'lambda.update' },
      );
    for (let done = 0; done < count; done += BATCH) {
      await Promise.all(Array.from({ length: Math.min(BATCH, count - done) }, (_, at) => describe(done + at + 1)));
    }
  });
}

const SHIPPED: Outcome = { ok: true, value: { kind: 'json', bytes: Buffer.from('{"status":"shipped"}') } };

/** Adds calls of a lambda through the gateway, all with the same event, and their outcomes. */
export async function growInvocations(
  dataDir: string,
  lambdaName: string,
  path: string,
  count: number,
  outcome = SHIPPED,
): Promise<void> {
  await withData(dataDir, async (data) => {
    const { id: lambdaId } = lambdaOf(data, lambdaName);
    const { keep: _, ...bounds } = completeOptions({}).records;
    const records = new RecordLogs({ ...bounds, files: data.store.files, nowMs: Date.now, onWarning: console.error });
    const recorder = new Recorder(records);
    await records.open();
    for (let done = 0; done < count; done += 1) {
      const executionId = randomUUID();
      const atMs = Date.now();
      const context = { method: 'GET', path, params: {}, headers: {}, creds: '', user: null, httpAware: false };
      const call: LambdaCall = { executionId, trigger: 'gateway', body: Buffer.alloc(0), context };
      const invocation: Invocation = {
        executionId,
        lambdaId,
        lambdaName,
        trigger: 'gateway',
        acceptedAtMs: atMs,
        startedAtMs: atMs,
        finishedAtMs: atMs + 1,
        cold: false,
        outcome,
        logs: [],
        outbound: [],
      };
      recorder.addInvocation(invocation, call);
      if (done % BATCH === 0) await records.save();
    }
    await records.stop();
  });
}

/** Adds leads as the CRM's own forms send them, by people named `Number 0` and so on. */
export async function growLeads(dataDir: string, count: number): Promise<void> {
  await withData(dataDir, async ({ logs: { leads } }) => {
    const put = (number: number) => {
      const formValues = { oid: '1', first_name: 'Number', last_name: String(number), email: 'n@example.com' };
      const fields = Object.entries(formValues).map(([name, value]) => ({ name, value }));
      const id = randomUUID();
      const source = { host: 'crm.example.com', path: '/servlet/servlet.WebToLead' };
      const receivedAt = new Date().toISOString();
      return leads.put(id, { id, receivedAt, oid: '1', fields, mapped: mapLead(fields), source, remote: '127.0.0.1' });
    };
    for (let done = 0; done < count; done += BATCH) {
      await Promise.all(Array.from({ length: Math.min(BATCH, count - done) }, (_, at) => put(done + at)));
    }
  });
}
