import { createHash } from 'node:crypto';
import { decodeSource } from '../../model/decode-text.ts';
import { reasonOf } from '../../model/errors.ts';
import { isJsonObject, type Json, jsonIn, memberOf } from '../../model/json.ts';
import { valueAt } from '../../model/patch/pointer.ts';
import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { liveProperties } from '../../model/types/container-definition.ts';
import { jsonSchemaOf } from '../openapi/json-schema.ts';
import { deliveryRoutes } from '../routes/delivery.ts';
import { formRoutes } from '../routes/forms.ts';
import { historyRoutes } from '../routes/history.ts';
import { leadRoutes } from '../routes/leads.ts';
import { invokeRoutes, logRoutes } from '../routes/logs.ts';
import { mailRoutes } from '../routes/mails.ts';
import { anyRoutes } from '../routes/meta-any.ts';
import { outboundRoutes } from '../routes/outbound.ts';
import { pathParameters } from '../routes/path-parameters.ts';
import { failureRoutes, recordedRoutes } from '../routes/recorded.ts';
import { namesIn, type Route } from '../routes/route.ts';
import { searchRoutes } from '../routes/search.ts';
import { controlPlaneTables } from '../routes/tables.ts';
import { treeRoutes } from '../routes/tree.ts';
import { windowRoutes } from '../routes/window.ts';
import { type Arguments, addressOf, type ToolClient } from './tool-client.ts';

/** Returns a description of the change that a request would make, and the id to apply it with. Throws Error for an invalid request. */
async function planChange(client: ToolClient, input: Arguments): Promise<object> {
  const { id, route, request, before } = await planOf(client, input);
  const { summary, description, permission } = route;
  const [verb = ''] = route.route.split(' ');
  const changes =
    verb === 'patch' && Array.isArray(request.body)
      ? request.body.map((operation) => ({
          ...operation,
          before: valueAt(before, String(memberOf(operation, 'path'))),
        }))
      : undefined;
  return {
    plan: id,
    request: `${verb.toUpperCase()} ${addressOf(route, request)}`,
    ...{ summary, description, permission },
    ...(changes ? { changes } : { before, body: request.body }),
  };
}

/** Nothing is stored between plan and change: the id is a hash of both the request and the present state. */
async function planOf(client: ToolClient, input: Arguments) {
  const { route: operation, path, query } = input;
  const route = routeNamed(operation, 'change');
  // Some clients send the JSON of a body as text.
  const body = typeof input.body === 'string' ? (jsonIn(input.body) ?? input.body) : input.body;
  const request: Arguments = { ...Object(path), ...Object(query), ...(body !== undefined && { body }) };
  addressOf(route, request);
  try {
    route.body?.read?.(body as Json | undefined); // parsed from JSON
  } catch (cause) {
    throw new Error(`the argument 'body' is invalid: ${reasonOf(cause)}`, { cause });
  }
  const readerRoute = route.route.replace(/^\w+/, 'get');
  const reader = [...routes.values()].find((candidate) => candidate.route === readerRoute && !candidate.when);
  const before = reader && (await client.value(reader, request));
  const state = withoutLiveProperties(before);
  const hash = createHash('sha256').update(JSON.stringify([operation, path ?? {}, query ?? {}, body ?? null, state]));
  return { route, request, id: hash.digest('hex').slice(0, 16), before };
}

/** A container's record changes by itself in these properties. */
function withoutLiveProperties(value: unknown): unknown {
  const properties = memberOf(value, 'properties');
  if (!isJsonObject(properties)) return value ?? null;
  const isLive = (name: string) => liveProperties.some((property) => property === name);
  const entries = Object.entries(properties).filter(([name]) => !isLive(name));
  return { ...Object(value), properties: Object.fromEntries(entries) };
}

type Schemas = Readonly<Record<string, object>>;

type ToolFunction = (client: ToolClient, input: Arguments) => Promise<unknown>;

/** A tool. Its route's parameters and body are its input, its route's response is its answer, unless it has `input` or `run`. */
export type Tool = ToolOptions & ({ route: Route; run?: undefined } | { route?: Route; run: ToolFunction });

interface ToolOptions {
  /** Follows the summary of the route. */
  description: string;
  /** Further arguments, as JSON Schemas by name. */
  input?: Schemas;
  /** Names of required arguments of `input`. */
  required?: readonly string[];
  /** Values for arguments that the caller leaves out. */
  presets?: Arguments;
  /** Parameters of the route that the caller cannot set. */
  hidden?: readonly string[];
  /** True for tools without a GET route that change nothing. */
  isReadOnly?: boolean;
  /** The location in the window, below `/ui/`, with names of arguments or members of the answer in braces. */
  window?: string;
}

const text = (description: string) => ({ type: 'string', description });
const routeInput: Schemas = {
  route: text('Operation ID from find_routes'),
  path: { type: 'object', description: 'Path parameters by name' },
  query: { type: 'object', description: 'Query parameters by name' },
};
const changeInput: Schemas = { ...routeInput, body: { description: 'The JSON body of the request' } };
/** Returns a function of a tool whose route lists the oldest first. */
function newestFirst(route: Route): ToolFunction {
  return async (client, input) => [await client.value(route, input)].flat().toReversed();
}

export const tools: Readonly<Record<string, Tool>> = {
  get_status: { route: windowRoutes.readStatus, description: 'Addresses, services and container engines.' },
  list_resources: {
    route: treeRoutes.searchTree,
    description: 'Returns id, name, type (`word`) and organization (`fqon`) of each resource.',
    presets: { limit: 50 },
    window: 'resources/{id}',
  },
  read_resource: {
    route: anyRoutes.readTop,
    description: 'Any resource by its id, such as a lambda with its code and variables. The code is decoded.',
    presets: { word: 'resources' },
    hidden: ['word', 'expand', 'embed'],
    window: 'resources/{resource_id}',
    async run(client, input) {
      const value = await client.value(anyRoutes.readTop, input);
      const properties = Object(memberOf(value, 'properties'));
      if (typeof properties.code !== 'string') return value;
      return { ...Object(value), properties: { ...properties, code: decodeSource(properties.code) } };
    },
  },
  search: {
    route: searchRoutes.searchAll,
    description: '',
    presets: { limit: 5 },
    async run(client, input) {
      const value = await client.value(searchRoutes.searchAll, input);
      const parts = typeof value === 'string' ? value.trim().split('\n').map(jsonIn) : [value];
      return { hits: parts.flatMap((part) => memberOf(part, 'hits') ?? []), found: memberOf(parts.at(-1), 'found') };
    },
  },
  list_calls: {
    route: recordedRoutes.listInvocations,
    description: 'The answer begins with `failures`: what fails at present, and the likely causes with their commits.',
    presets: { limit: 20 },
    window: 'invocations?sel={executionId}',
    async run(client, input) {
      const failures = await client.value(failureRoutes.listFailures, {});
      return { ...Object(failures), ...Object(await client.value(recordedRoutes.listInvocations, input)) };
    },
  },
  read_call: {
    route: recordedRoutes.readInvocation,
    description:
      'Event, log, outbound calls and steps of the request; for a failure, its cause, the last call that succeeded and the changes since then.',
    window: 'invocations?sel={execution_id}',
    async run(client, input) {
      const call = await client.value(recordedRoutes.readInvocation, input);
      const isGood = memberOf(memberOf(call, 'outcome'), 'ok') === true && memberOf(call, 'outboundFailures') === 0;
      if (isGood) return { call };
      const failure = await client.value(failureRoutes.readFailure, input);
      const from = memberOf(memberOf(failure, 'lastGood'), 'at');
      const range = { from, to: memberOf(call, 'acceptedAt'), limit: 10 };
      const changes = from === undefined ? undefined : await client.value(historyRoutes.listCommits, range);
      return { failure, changesSinceLastSuccess: memberOf(changes, 'commits'), call };
    },
  },
  read_log: { route: logRoutes.readOnInLog, description: '', window: 'resources/{resource_id}' },
  list_forms: {
    route: formRoutes.listForms,
    description: 'Shows why a form did not become a lead: `stop` and `reason`, and the `executionId` for read_call.',
    presets: { limit: 20 },
    window: 'leads?sel={id}',
  },
  list_leads: {
    route: leadRoutes.listLeads,
    description: 'This tool lists the newest first. `refused=true` lists the forms that the CRM rejected.',
    window: 'leads?sel={id}',
    run: newestFirst(leadRoutes.listLeads),
  },
  list_mails: {
    route: mailRoutes.listMails,
    description: 'This tool lists the newest first. To read one, call read_route with readMail.',
    presets: { limit: 20 },
    window: 'mails?sel={id}',
    run: newestFirst(mailRoutes.listMails),
  },
  list_changes: {
    route: historyRoutes.listCommits,
    description: '',
    presets: { limit: 20, brief: true },
    window: 'history?sel={seq}',
  },
  invoke_lambda: {
    route: invokeRoutes.invokeLambda,
    description: 'The lambda runs and can call other systems. `body` is the event.',
    window: 'invocations?sel={executionId}',
  },
  replay_call: {
    route: recordedRoutes.replayInvocation,
    description: 'The lambda runs again and can call other systems. With `body.event`, it gets a changed event.',
    window: 'invocations?sel={executionId}',
  },
  plan_change: {
    description:
      "Plans a request that changes something and does nothing yet: shows the present state and returns the plan's id for apply_change. " +
      'To change a resource, use the route patchResource with path {fqon, resource_id} and a JSON Patch as body, for example ' +
      '[{"op": "replace", "path": "/properties/timeout", "value": 10}].',
    input: changeInput,
    required: ['route'],
    isReadOnly: true,
    run: planChange,
  },
  apply_change: {
    description:
      'Sends the planned request. Pass the same arguments as to plan_change, and its `plan`. Fails if the state has changed since then. ' +
      'undo_change undoes changes of resources, by the commit in the answer.',
    input: { ...changeInput, plan: text('`plan` of plan_change') },
    required: ['route', 'plan'],
    async run(client, input) {
      const { id, route, request } = await planOf(client, input);
      if (id !== input.plan)
        throw new Error('the plan is of other arguments or of an earlier state. Call plan_change again.');
      const { value, commits } = await client.send(route, request);
      return { answer: value, commits };
    },
    window: 'history?sel={commits}',
  },
  undo_change: { route: historyRoutes.revertCommit, description: '', window: 'history?sel={commit_seq}' },
  set_outbound_rules: {
    route: outboundRoutes.replaceOutboundRules,
    description: 'An empty list clears them. The answer has the rules `before`; set them again to undo this.',
    async run(client, input) {
      const before = await client.value(outboundRoutes.readOutboundRules, {});
      return { before, after: await client.value(outboundRoutes.replaceOutboundRules, input) };
    },
  },
  run_pipeline: {
    route: deliveryRoutes.runDemoPipeline,
    description: `Read the run with read_pipeline. For another repository, use the command \`${SHELL_COMMAND} pipeline run DIR\`.`,
    window: 'pipelines?sel={id}',
  },
  read_pipeline: {
    route: deliveryRoutes.readPipelineRun,
    description: 'Without pipeline_id, lists all runs.',
    hidden: ['pipeline_id'],
    input: { pipeline_id: text('ID of a run') },
    window: 'pipelines?sel={pipeline_id}',
    run: (client, input) =>
      client.value(
        input.pipeline_id === undefined ? deliveryRoutes.listPipelineRuns : deliveryRoutes.readPipelineRun,
        input,
      ),
  },
  find_routes: {
    description:
      'Finds operations of the platform for which there is no tool: read_route calls those that read, plan_change and apply_change the others.',
    input: {
      q: text('Words of the operation, for example `secret create`'),
      route: text('Operation ID, for its parameters, body and response as JSON Schemas'),
    },
    isReadOnly: true,
    run: async (_client, { q, route }) => (route === undefined ? findRoutes(String(q ?? '')) : describeRoute(route)),
  },
  read_route: {
    description: 'Calls an operation that reads.',
    input: routeInput,
    required: ['route'],
    isReadOnly: true,
    run: async (client, { route, path, query }) =>
      client.value(routeNamed(route, 'get'), { ...Object(path), ...Object(query) }),
  },
};

const MAX_ROUTES = 40;
/** Media types of responses that do not end, or are not for a tool. */
const NOT_FOR_TOOLS = ['text/event-stream', 'application/zip', 'application/gzip', 'application/octet-stream'];

/** The operations that tools can call, by their ids in the API document. */
const routes = new Map<string, Route>(controlPlaneTables.flatMap((table) => Object.entries(table)).filter(isForTools));

function isForTools([, { answer, body }]: [id: string, route: Route]): boolean {
  if (!answer) return false;
  const { status, mediaTypes = [] } = answer;
  const acceptsJson = body === undefined || body.mediaTypes.some((type) => type.includes('json'));
  return status !== 101 && acceptsJson && !mediaTypes.some((type) => NOT_FOR_TOOLS.includes(type));
}

/** Returns the operation with that id. Throws Error if there is none, or if it is of the other kind. */
function routeNamed(id: unknown, kind?: 'get' | 'change'): Route {
  const route = routes.get(String(id));
  if (!route) throw new Error(`there is no operation '${String(id).slice(0, 64)}'. Use find_routes to find its ID.`);
  if (kind === undefined || (kind === 'get') === route.route.startsWith('get ')) return route;
  throw new Error(kind === 'get' ? `${id} changes something. Use plan_change.` : `${id} only reads. Use read_route.`);
}

/** Returns the operations whose id, path or summary contains all words, in any letter case. */
function findRoutes(query: string): object {
  const terms = query.toLowerCase().split(/\s+/);
  const matches = [...routes].filter(([id, { route, summary }]) =>
    terms.every((term) => `${id} ${route} ${summary}`.toLowerCase().includes(term)),
  );
  const brief = matches.map(([id, { route, summary, permission }]) => ({ id, route, summary, permission }));
  return { total: matches.length, routes: brief.slice(0, MAX_ROUTES) };
}

function describeRoute(id: unknown): object {
  const operation = routeNamed(id);
  const { route, summary, description, permission, answer } = operation;
  const output = answer?.schema && jsonSchemaOf(answer.schema);
  return { route, summary, description, permission, input: inputOf(operation).properties, output };
}

/** The JSON Schemas of the path parameters, query parameters and body of a route, by name, and the names of the required ones. */
export function inputOf({ route, query = {}, body }: Route): { properties: Schemas; required: string[] } {
  const pathNames = namesIn(route);
  const path = pathNames.map((name) => {
    const [description, schema] = pathParameters[name] ?? [];
    return [name, { ...schema, description }];
  });
  const parameters = Object.entries(query);
  const properties = {
    ...Object.fromEntries(path),
    ...Object.fromEntries(parameters.map(([name, { form, description }]) => [name, { ...form, description }])),
    ...(body && { body: jsonSchemaOf(body.schema) }),
  };
  const requiredParameters = parameters.flatMap(([name, { isRequired }]) => (isRequired ? name : []));
  return { properties, required: [...pathNames, ...requiredParameters, ...(body && !body.isOptional ? ['body'] : [])] };
}
