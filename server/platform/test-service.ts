import type { Recorder } from '../inspector/recorder/recorder.ts';
import { causeOf } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { USER } from '../model/type-names.ts';
import type { LambdaService } from '../runtimes/lambdas/lambda-service.ts';
import { systemActor } from '../services/resources/actor.ts';
import type { Credentials } from '../services/security/credentials.ts';
import { changesBetween } from '../storage/world/world-patch.ts';
import type { Data } from './data.ts';
import { logs } from './declarations.ts';

/** The functions that a test suite calls on a platform in its own process: no request is as fast or as unrestricted. */
export type TestService = ReturnType<typeof createTestService>;

/** Create it when the platform has started: `reset` restores this state. */
export function createTestService({
  data,
  credentials,
  lambdas,
  recorder,
  onReset,
  routes,
}: {
  data: Data;
  credentials: Credentials;
  lambdas: Pick<LambdaService, 'forgetLogs' | 'applyRules'>;
  recorder: Recorder;
  onReset(): void;
  routes(): Promise<string[]>;
}) {
  const { store } = data;
  const { view } = store;
  const currentState = () => ({
    // The records alone: to make a map of a large world would be a part of every start.
    records: [...store.world.resources.values()],
    restoreLogs: Object.entries<KeyedLog<unknown>>(data.logs).flatMap(([name, log]) =>
      logs.get(name)?.reset ? [restorer(log)] : [],
    ),
  });
  let beginning = currentState();

  const account = (username: string) => {
    const found = view.all('users').find(({ name }) => name === username);
    if (found?.type === USER) return found;
    throw new PlatformError('not_found', `user '${username}' does not exist`);
  };
  return {
    /**
     * Restores the world, the leads and the logs of the start, or of the newest baseline; tokens and keys stay valid. Records are
     * kept, because they are never deleted: resolves to the position of the newest invocation.
     */
    async reset(): Promise<number> {
      const cause = causeOf(systemActor(view.root, 'startup'), 'history.restore', 'reset to the beginning');
      const { records, restoreLogs } = beginning;
      const resources = new Map(records.map((record) => [record.id, record]));
      await store.commit(changesBetween(store.world.resources, resources), cause);
      await Promise.all(restoreLogs.map((restore) => restore()));
      await lambdas.applyRules();
      lambdas.forgetLogs();
      onReset();
      return recorder.invocations.newest;
    },
    /** Makes the present state the one that `reset` restores. */
    baseline(): void {
      beginning = currentState();
    },
    /** The routes of all plugins, such as `get /inspect/leads`. */
    routes,
    /** An access token of an account, without its password. Throws PlatformError 404 if there is no account of this name. */
    token: async (username: string) => credentials.issueToken(account(username).id, view.root.id),
    /** A new API key of an account, likewise. */
    apiKey: async (username: string) => credentials.createKey(account(username).id, view.root.id),
  };
}

/** Saves the contents of a log, and returns a function that restores them. Records never change in place. */
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
