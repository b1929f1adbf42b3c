import { type InvocationSummary, recordedRoutes } from '../api/routes/recorded.ts';
import type { Invocation, InvocationFilter, Invocations } from './api.ts';
import { check, invocationFilter } from './arguments.ts';
import { type Client, findLambda } from './client.ts';

const MOST = 100;

/** The recorded invocations of a platform. @param after only those after this position */
export function invocationsOf(client: Client, after: () => number): Invocations {
  const list = async (filter: InvocationFilter, most: number): Promise<Invocation[]> => {
    const lambda = filter.lambda === undefined ? {} : { lambda: await findLambda(client, filter.lambda) };
    const found: Invocation[] = [];
    for (let before: number | undefined; ; ) {
      const bounds = { after: String(after()), ...(before !== undefined && { before: String(before) }) };
      const query = new URLSearchParams({ ...lambda, ...bounds });
      const { invocations, next } = await client.ask(recordedRoutes.listInvocations, { query });
      for (const summary of invocations) {
        if (!matches(summary, filter)) continue;
        found.push(await client.ask(recordedRoutes.readInvocation, { path: { execution_id: summary.executionId } }));
        if (found.length === most) return found;
      }
      if (next === undefined) return found;
      before = next;
    }
  };
  return {
    async find(filter = {}) {
      check('invocations.find', invocationFilter, filter);
      return (await list(filter, 1))[0];
    },
    async list(filter = {}) {
      check('invocations.list', invocationFilter, filter);
      return await list(filter, MOST);
    },
  };
}

function matches(
  { trigger, outcome }: Pick<InvocationSummary, 'trigger' | 'outcome'>,
  filter: InvocationFilter,
): boolean {
  return (
    (filter.ok === undefined || outcome.ok === filter.ok) &&
    (filter.trigger === undefined || trigger === filter.trigger)
  );
}
