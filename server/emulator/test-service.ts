import type { LambdaService } from '../lambdas/lambda-service.ts';
import { causeOf } from '../model/cause.ts';
import { PlatformError } from '../model/errors.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { USER } from '../model/type-names.ts';
import { rootAct } from '../resources/act.ts';
import type { Credentials } from '../security/credentials.ts';
import { changesBetween } from '../store/world-difference.ts';
import type { Data } from './data.ts';
import type { Watch } from './watch.ts';

/** What a test suite asks of a platform that lives in its own process, where no request could be as quick or as free. */
export interface TestService {
  /**
   * Makes the world, the leads and the logs what they were when the platform had started; tokens and keys go on working. What was
   * recorded stays, since nothing is taken out of a record: resolves to the place of the newest invocation in it.
   */
  reset(): Promise<number>;
  /** An access token of an account, whatever its password. Throws PlatformError 404 when there is none of this name. */
  token(username: string): Promise<string>;
  /** A new API key of an account, likewise. */
  apiKey(username: string): Promise<{ key: string; secret: string }>;
}

export interface TestServiceParts {
  data: Data;
  credentials: Credentials;
  lambdas: Pick<LambdaService, 'forgetLogs' | 'applyRules'>;
  watch: Watch;
}

/** To be made when the platform has started: what there is then is what `reset` goes back to. */
export function createTestService({ data, credentials, lambdas, watch }: TestServiceParts): TestService {
  const { store } = data;
  const { view } = store;
  // The records alone: to make a map of a large world would be a part of every start.
  const records = [...store.world.resources.values()];
  const logs = [data.leads, data.refusedForms, data.scm, data.pipelines, data.outbound, data.testEvents];
  const restoreLogs = logs.map((log) => restorer<unknown>(log));

  const account = (username: string) => {
    const found = view.all('users').find(({ name }) => name === username);
    if (found?.type === USER) return found;
    throw new PlatformError(404, `there is no user '${username}'`);
  };
  return {
    async reset() {
      const cause = causeOf(rootAct(view.root, 'startup'), 'history.restore', 'reset to the beginning');
      const resources = new Map(records.map((record) => [record.id, record]));
      await store.commit(changesBetween(store.world.resources, resources), cause);
      await Promise.all(restoreLogs.map((restore) => restore()));
      await lambdas.applyRules();
      lambdas.forgetLogs();
      watch.onLeadsDeleted();
      return watch.recorder.invocations.newest;
    },
    token: async (username) => credentials.issueToken(account(username).id, view.root.id),
    apiKey: async (username) => credentials.createKey(account(username).id, view.root.id),
  };
}

/** Takes note of what a log holds; what it returns makes it so again. Records never change in place. */
function restorer<T>(log: KeyedLog<T>): () => Promise<void> {
  const noted = new Map(log.entries());
  return async () => {
    const added = [...log.entries()].filter(([key]) => !noted.has(key));
    const changed = [...noted].filter(([key, record]) => log.get(key) !== record);
    await Promise.all([
      ...added.map(([key]) => log.remove(key)),
      ...changed.map(([key, record]) => log.put(key, record)),
    ]);
  };
}
