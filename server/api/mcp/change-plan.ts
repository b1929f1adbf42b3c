import { createHash } from 'node:crypto';
import { reasonOf } from '../../model/errors.ts';
import { type Json, jsonIn, memberOf } from '../../model/json.ts';
import { valueAt } from '../../model/patch/pointer.ts';
import type { Route } from '../routes/route.ts';
import { readerOf, routeNamed } from './route-list.ts';
import { type Arguments, addressOf, type ToolClient } from './tool-client.ts';

interface Plan {
  route: Route;
  request: Arguments;
  /** Identifies the request and the state that it changes. */
  id: string;
  before: unknown;
}

/** Returns a description of the change that a request would make, and the id to apply it with. Throws Error for an invalid request. */
export async function planChange(client: ToolClient, input: Arguments): Promise<object> {
  const { id, route, request, before } = await planOf(client, input);
  const { summary, description, permission } = route;
  return {
    plan: id,
    request: `${route.route.split(' ')[0]?.toUpperCase()} ${addressOf(route, request)}`,
    summary,
    description,
    permission,
    ...(route.route.startsWith('patch ') && Array.isArray(request.body)
      ? {
          changes: request.body.map((operation) => ({
            ...operation,
            before: valueAt(before, String(memberOf(operation, 'path'))),
          })),
        }
      : { before, body: request.body }),
  };
}

/** Returns the planned request. Throws Error if the plan is of another request, or of another state. */
export async function requirePlan(client: ToolClient, input: Arguments): Promise<Plan> {
  const plan = await planOf(client, input);
  if (plan.id === input.plan) return plan;
  throw new Error(
    'the plan is of other arguments or of an earlier state. Call plan_change again and check what it returns.',
  );
}

/** Nothing is stored between plan and change: the id is a hash of both the request and the present state. */
async function planOf(client: ToolClient, input: Arguments): Promise<Plan> {
  const { route: operation, path, query } = input;
  const route = routeNamed(operation, 'change');
  // Some clients send the JSON of a body as text.
  const body = typeof input.body === 'string' ? (jsonIn(input.body) ?? input.body) : input.body;
  const request = { ...Object(path), ...Object(query), ...(body !== undefined && { body }) };
  addressOf(route, request);
  try {
    route.body?.read?.(body as Json | undefined); // parsed from JSON
  } catch (cause) {
    throw new Error(`the argument 'body' is invalid: ${reasonOf(cause)}`, { cause });
  }
  const reader = readerOf(route);
  const before = reader && (await client.send(reader, request)).value;
  // The state of a resource changes with its containers, its record does not.
  const state = memberOf(before, 'modified') ?? before ?? null;
  const hash = createHash('sha256').update(JSON.stringify([operation, path ?? {}, query ?? {}, body ?? null, state]));
  return { route, request, id: hash.digest('hex').slice(0, 16), before };
}
