import { jsonSchemaOf } from '../../server/api/openapi/json-schema.ts';
import type { Route } from '../../server/api/routes/route.ts';
import { controlPlaneTables, emulatorTables } from '../../server/api/routes/tables.ts';
import { isJsonObject, type Json, type JsonObject } from '../../server/model/json.ts';
import { resourceTypes } from '../../server/model/registry.ts';
import { listedOnlyWords } from '../../server/model/type-words.ts';
import { code, groupsOf, table } from './markdown.ts';

/** All routes below `/inspect` and `/log`, by their headings. */
export function inspectRoutes(): string {
  const groups = groupsOf(
    emulatorTables.flatMap((table): Route[] => Object.values(table)),
    ({ tag }) => tag,
  );
  return [...groups]
    .map(([tag, rows]) => `## ${tag}\n\n${table(['request', 'does', 'for'], rows.map(routeRow))}`)
    .join('\n\n');
}

function routeRow({ route, summary, description, permission, query = {}, isStrict }: Route): string[] {
  const names = Object.entries(query).map(([name, { isRequired }]) => code(isRequired ? name : `${name}?`));
  const rest = [description, names.length > 0 ? `Parameters: ${names.join(', ')}${isStrict ? ', no others' : ''}` : ''];
  return [
    code(route.replace(/^\w+/, (verb) => verb.toUpperCase())),
    [summary, ...rest.filter(Boolean)].join('. ').replaceAll('..', '.'),
    callerOf(permission),
  ];
}

function callerOf(permission: Route['permission']): string {
  if (permission === 'none') return 'everyone';
  if (permission === 'caller') return 'every user';
  if (permission === 'root') return 'root';
  return permission.map(({ action }) => code(action)).join(', ');
}

/** The types with their parents and what can be done with them. */
export function supportedTypes(): string {
  const rows = resourceTypes.map(({ collection, summary, parents, replaceable, verbs = [], subTypes = [] }) => [
    code(collection),
    `${summary}${subTypes.length > 0 ? ` ${subTypes.length} subtypes.` : ''}`,
    parents.map(code).join(', '),
    // Actions on lists are not emulated.
    ['POST', 'GET', 'PATCH', ...(replaceable ? ['PUT'] : []), 'DELETE', ...verbs.filter((verb) => verb !== 'import')]
      .map(code)
      .join(', '),
  ]);
  return table(['type', 'what it is', 'below', 'requests and actions'], rows);
}

/** Requests that are answered with 501. */
export function notEmulated(): string {
  const rows = controlPlaneTables
    .flatMap((table) => Object.values(table))
    .filter(({ answer, errors = [] }) => !answer && errors.includes(501))
    .map(
      ({ route, summary }) =>
        `- ${code(route.replace(/^\w+/, (verb) => verb.toUpperCase()))}: ${summary.toLowerCase()}.`,
    );
  return [...rows, `- Creating ${listedOnlyWords.map(code).join(', ')}. Their lists are empty.`].join('\n');
}

/** The properties of all types that change nothing. */
export function storedOnly(): string {
  const rows = resourceTypes.flatMap(({ collection, properties }) => {
    const names = namesIn(jsonSchemaOf(properties));
    return names.length > 0 ? [[code(collection), names.map(code).join(', ')]] : [];
  });
  return table(['type', 'properties'], rows);
}

function namesIn(schema: JsonObject, above = ''): string[] {
  const members: Json = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(members).flatMap(([name, member]) => {
    if (!isJsonObject(member)) return [];
    if (/stored only/i.test(String(member.description))) return [above + name];
    const inside = isJsonObject(member.items) ? namesIn(member.items, `${above}${name}[].`) : [];
    return [...inside, ...namesIn(member, `${above}${name}.`)];
  });
}
