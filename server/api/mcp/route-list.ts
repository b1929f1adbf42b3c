import { jsonSchemaOf } from '../openapi/json-schema.ts';
import { pathParameters } from '../routes/path-parameters.ts';
import { FORM_TYPE, namesIn, type Route } from '../routes/route.ts';
import { controlPlaneTables } from '../routes/tables.ts';

const MAX_ROUTES = 40;
/** Media types of responses that do not end, or are not for a tool. */
const NOT_FOR_TOOLS = ['text/event-stream', 'application/gzip', 'application/octet-stream'];

/** The operations that tools can call, by their ids in the API document. */
const routes = new Map<string, Route>(
  controlPlaneTables.flatMap((table) => Object.entries(table)).filter(([, route]) => isForTools(route)),
);

function isForTools({ answer, body }: Route): boolean {
  return (
    answer !== undefined &&
    answer.status !== 101 &&
    !answer.mediaTypes?.some((type) => NOT_FOR_TOOLS.includes(type)) &&
    (body === undefined || body.mediaTypes.some((type) => type !== FORM_TYPE && type.includes('json')))
  );
}

/** Returns the operation with that id. Throws Error if there is none, or if it is of the other kind. */
export function routeNamed(id: unknown, kind: 'get' | 'change'): Route {
  const route = routes.get(String(id));
  if (!route) throw new Error(`there is no operation '${String(id).slice(0, 64)}'. Use find_routes to find its ID.`);
  if ((kind === 'get') === route.route.startsWith('get ')) return route;
  throw new Error(kind === 'get' ? `${id} changes something. Use plan_change.` : `${id} only reads. Use read_route.`);
}

/** Returns the operation that reads what is at the path of another one. */
export function readerOf({ route }: Route): Route | undefined {
  const address = `get ${route.slice(route.indexOf(' ') + 1)}`;
  return [...routes.values()].find((candidate) => candidate.route === address && candidate.when === undefined);
}

/** Returns the operations whose id, path or summary contains all words, in any letter case. */
export function findRoutes(query: string): object {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = [...routes].filter(([id, { route, summary }]) => {
    const entry = `${id} ${route} ${summary}`.toLowerCase();
    return terms.every((term) => entry.includes(term));
  });
  const brief = matches
    .slice(0, MAX_ROUTES)
    .map(([id, { route, summary, permission }]) => ({ id, route, summary, permission }));
  return { total: matches.length, routes: brief };
}

/** Returns an operation with the JSON Schemas of its input and output. Throws Error if there is none with that id. */
export function describeRoute(id: unknown): object {
  const route = routes.get(String(id));
  if (!route) throw new Error(`there is no operation '${String(id).slice(0, 64)}'. Search with q.`);
  const { summary, description, permission, answer } = route;
  return {
    route: route.route,
    summary,
    description,
    permission,
    input: inputSchemas(route),
    output: answer?.schema && jsonSchemaOf(answer.schema),
  };
}

/** The JSON Schemas of the path parameters, query parameters and body of a route, by name. */
export function inputSchemas(route: Route): Record<string, object> {
  const path = namesIn(route.route).map((name) => {
    const [description, schema] = pathParameters[name] ?? [];
    return [name, { ...schema, description }];
  });
  const query = Object.entries(route.query ?? {}).map(([name, { form, description }]) => [
    name,
    { ...form, description },
  ]);
  return { ...Object.fromEntries([...path, ...query]), ...(route.body && { body: jsonSchemaOf(route.body.schema) }) };
}

/** The names of the required members of `inputSchemas`. */
export function requiredInput(route: Route): string[] {
  const query = Object.entries(route.query ?? {}).filter(([, { isRequired }]) => isRequired);
  return [
    ...namesIn(route.route),
    ...query.map(([name]) => name),
    ...(route.body && !route.body.isOptional ? ['body'] : []),
  ];
}
