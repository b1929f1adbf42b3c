import { randomUUID } from 'node:crypto';
import { completeOptions } from '../server/config.ts';
import { type Data, openData } from '../server/emulator/data.ts';
import { Unwind } from '../server/emulator/unwind.ts';
import type { Invocation, LambdaCall, Outcome } from '../server/model/invocation.ts';
import type { StoredResource } from '../server/model/record.ts';
import { mapLead } from '../server/standins/lead.ts';

/** How much is added before it is written. */
const BATCH = 1_000;

/** Opens what a platform that is not running keeps, lets it be added to as the platform itself would, and closes it. */
async function addTo(dataDir: string, add: (data: Data) => Promise<void>): Promise<void> {
  const unwind = new Unwind();
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

/** A lambda of the world. */
function lambdaOf({ store }: Data, name: string): StoredResource {
  const found = [...store.world.resources.values()].find((one) => one.name === name && one.type.endsWith('::Lambda'));
  if (!found) throw new Error(`there is no lambda ${name}`);
  return found;
}

/** Commits, each of which describes a lambda anew: `text 1` and so on. */
export async function growHistory(dataDir: string, lambdaName: string, count: number): Promise<void> {
  await addTo(dataDir, async (data) => {
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

/** Calls of a lambda through the gateway, with one event and what came of each. */
export async function growInvocations(
  dataDir: string,
  lambdaName: string,
  path: string,
  count: number,
  outcome = SHIPPED,
): Promise<void> {
  await addTo(dataDir, async (data) => {
    const { id: lambdaId } = lambdaOf(data, lambdaName);
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
      data.recorder.addInvocation(invocation, call);
      if (done % BATCH === 0) await data.records.save();
    }
  });
}

/** Leads as the CRM's own forms send them, by a person called `Number 0` and so on. */
export async function growLeads(dataDir: string, count: number): Promise<void> {
  await addTo(dataDir, async ({ leads }) => {
    const put = (number: number) => {
      const sent = { oid: '1', first_name: 'Number', last_name: String(number), email: 'n@example.com' };
      const fields = Object.entries(sent).map(([name, value]) => ({ name, value }));
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
