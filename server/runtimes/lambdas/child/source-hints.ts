import {
  type AnonymousFunctionDeclaration,
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  parse,
  parseExpressionAt,
} from 'acorn';
import { nearestOf } from '../../../model/nearest.ts';
import { type Advice, GLOBALS, NOT_REGISTERED, REGISTRIES } from './other-platforms.ts';

export interface ReadSource {
  file: string;
  text: string;
  handler?: string | undefined;
  variables: readonly string[];
}

const MOST = 5;
const LONGEST_LINE = 120;
const HTTP_RESULT = 'return { statusCode: 200, headers: {}, body } with is_http_aware on the endpoint';

const BODY: Advice = ['event is the request body, as a string', 'JSON.parse(event)'];
const QUERY = 'the query is in context, each parameter with all its values';
const REQUEST: Advice = ['the request is described in context', 'JSON.parse(context)'];
const WHOLE: Advice = ['event is a JSON string', 'JSON.parse(event)'];
const CONTEXT = 'context is a JSON string';
const NO_FUNCTION = 'context is a JSON string and has no such function';
const NO_RESPONSE = 'there is no response object';

/** Properties of the event of other platforms, or of their request, that are somewhere else here. */
const OF_EVENT = adviceByName([
  ['body json __ow_body', ...BODY],
  ['rawBody text', BODY[0], 'event'],
  ['headers get header __ow_headers', 'the headers are in context', 'JSON.parse(context).headers'],
  [
    'query params queryStringParameters multiValueQueryStringParameters __ow_query',
    QUERY,
    'JSON.parse(context).params',
  ],
  ['path rawPath pathParameters url __ow_path', 'the path is in context', 'JSON.parse(context).path'],
  ['method httpMethod __ow_method', 'the method is in context', 'JSON.parse(context).method'],
  ['requestContext http', ...REQUEST],
]);

/** The same of the context, and of the response that others pass in its place. */
const OF_CONTEXT = adviceByName([
  ['succeed done', NO_FUNCTION, 'callback(null, value), or return value'],
  ['fail', NO_FUNCTION, 'callback(error), or throw error'],
  ['log', NO_FUNCTION, 'console.log(text)'],
  ['res', CONTEXT, HTTP_RESULT],
  ['bindings', CONTEXT, 'JSON.parse(event)'],
  ['awsRequestId', CONTEXT, 'JSON.parse(context).executionId'],
  ['functionName', CONTEXT, 'JSON.parse(context).lambdaName'],
  ['getRemainingTimeInMillis', CONTEXT, 'JSON.parse(context).deadline - Date.now()'],
  ['callbackWaitsForEmptyEventLoop', CONTEXT, 'nothing: a result ends the call'],
  ['send json end write', NO_RESPONSE, 'return value, or callback(null, value)'],
  ['status statusCode sendStatus setHeader set header type writeHead redirect', NO_RESPONSE, HTTP_RESULT],
]);

function adviceByName(rows: [names: string, ...Advice][]): ReadonlyMap<string, Advice> {
  return new Map(rows.flatMap(([names, ...advice]) => names.split(' ').map((name) => [name, advice] as const)));
}

type FunctionNode = AnonymousFunctionDeclaration | ArrowFunctionExpression | FunctionDeclaration | FunctionExpression;

interface Found {
  node: AnyNode;
  name: string;
  advice: Advice;
}

/** What the author of a lambda should know: a line for each mistake, in the order of the source. Empty when the source cannot be read. */
export function sourceHints({ file, text, handler, variables }: ReadSource): string[] {
  const program = programOf(text);
  if (!program) return [];
  const found: Found[] = [...globalsIn(program, text), ...unsetIn(program, text, variables)];
  const own = handler === undefined ? undefined : functionOf(handler, program, text);
  if (own) found.push(...parametersOf(own, { text, named: namedFunctionsIn(program) }));
  return found
    .sort((a, b) => a.node.start - b.node.start)
    .filter(({ name }, at, all) => all.findIndex((one) => one.name === name) === at)
    .slice(0, MOST)
    .map(({ node, name, advice: [wrong, instead] }) => {
      const before = text.slice(0, node.start);
      const line = before.split('\n').length;
      const shown = (text.split('\n')[line - 1] ?? '').trim().slice(0, LONGEST_LINE);
      return `${file}, line ${line} has ${name} in: ${shown} - ${wrong}; write: ${instead}`;
    });
}

function programOf(text: string): AnyNode | undefined {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(text, { ecmaVersion: 'latest', sourceType, allowReturnOutsideFunction: true, allowHashBang: true });
    } catch {
      // It is of the other kind, or cannot be read.
    }
  }
  return undefined;
}

function globalsIn(program: AnyNode, text: string): Found[] {
  // Code that tests a name with typeof also runs without it.
  const isKnown = (node: AnyNode, parent: AnyNode | undefined) =>
    isDeclared(node, parent) || (parent?.type === 'UnaryExpression' && parent.operator === 'typeof');
  const known = new Set(
    nodesIn(program).flatMap(({ node, parent }) =>
      node.type === 'Identifier' && isKnown(node, parent) ? [node.name] : [],
    ),
  );
  return nodesIn(program).flatMap(({ node, parent }): Found[] => {
    if (node.type === 'Literal' && REGISTRIES.includes(node.value)) {
      const call = nodesIn(program).find(({ node: one }) => isRegistration(one))?.node;
      const name = call ? text.slice(call.start, call.start + text.slice(call.start).search(/\(/)) : String(node.value);
      return [{ node: call ?? node, name, advice: NOT_REGISTERED }];
    }
    if (node.type !== 'Identifier' || known.has(node.name) || isNameOnly(node, parent)) return [];
    const advice = Object.hasOwn(GLOBALS, node.name) ? GLOBALS[node.name] : undefined;
    const whole = parent?.type === 'MemberExpression' && parent.object === node ? parent : node;
    return advice ? [{ node, name: sourceOf(whole, text), advice }] : [];
  });
}

function isRegistration(node: AnyNode): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object } = node.callee;
  return object.type === 'Identifier' && /^(app|functions)$/.test(object.name);
}

/** Variables that the code relies on, as far as that can be seen, and that are not set. */
function unsetIn(program: AnyNode, text: string, variables: readonly string[]): Found[] {
  const unset = (node: AnyNode, name: string): Found[] => {
    if (variables.includes(name)) return [];
    const nearest = nearestOf(name, variables);
    const instead =
      nearest === undefined ? `a value for ${name} into the lambda's property 'env'` : `process.env.${nearest}`;
    const wrong = nearest === undefined ? 'that variable is not set' : `that variable is not set, but ${nearest} is`;
    return [{ node, name: `process.env.${name}`, advice: [wrong, instead] }];
  };
  const isEnvironment = (node: AnyNode | null | undefined): boolean => !!node && sourceOf(node, text) === 'process.env';
  return nodesIn(program).flatMap(({ node, parent }): Found[] => {
    if (node.type === 'VariableDeclarator' && isEnvironment(node.init))
      return membersOf(node.id).flatMap(({ node: member, name, isReplaced }) =>
        isReplaced ? [] : unset(member, name),
      );
    if (node.type !== 'MemberExpression' || !isEnvironment(node.object) || isOptional(node, parent)) return [];
    const name = propertyOf(node);
    return name === undefined ? [] : unset(node, name);
  });
}

/** Is the value checked for existence, given a default, or assigned? */
function isOptional(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === 'BinaryExpression') return parent.operator !== '+';
  if (parent?.type === 'AssignmentExpression') return parent.left === node;
  if (parent?.type === 'IfStatement' || parent?.type === 'ConditionalExpression') return parent.test === node;
  return parent?.type === 'LogicalExpression' || parent?.type === 'UnaryExpression';
}

interface Program {
  text: string;
  named: ReadonlyMap<string, FunctionNode>;
}

/** What the handler reads of its first two parameters: both are text here. */
function parametersOf(own: FunctionNode, program: Program): Found[] {
  const { text } = program;
  const [first] = own.params;
  const isReversed = first?.type === 'Identifier' && /^(context|ctx)$/i.test(first.name);
  const found = own.params.slice(0, 2).flatMap((param, index): Found[] => {
    const isContext = isReversed ? index === 0 : index === 1;
    return readsOf({ of: own, param, isContext }, program);
  });
  if (!isReversed) return found;
  const wrong = 'a handler is called as (event, context, callback)';
  const [, second] = own.params;
  const name = `(${[first, second].flatMap((param) => (param ? [sourceOf(param, text)] : [])).join(', ')})`;
  return [{ node: own, name, advice: [wrong, '(event, context, callback)'] }, ...found];
}

/** What a function reads of a parameter that is the event or the context, and what those read that it gives it to. */
function readsOf(
  { of, param, isContext }: { of: FunctionNode; param: AnyNode; isContext: boolean },
  program: Program,
  callers: readonly FunctionNode[] = [],
): Found[] {
  if (param.type === 'ObjectPattern') return unpacked(param, isContext, isContext ? 'context' : 'event');
  if (param.type !== 'Identifier' || callers.includes(of)) return [];
  const { name } = param;
  const { text } = program;
  const all = nodesIn(of.body).filter(({ node }) => node.type !== 'Identifier' || node.name === name);
  const isName = (node: AnyNode | null | undefined): boolean => node?.type === 'Identifier' && node.name === name;
  // A value that is assigned, declared again, or tested with typeof can be an object after all.
  const isChanged = all.some(
    ({ node, parent }) =>
      (node.type === 'AssignmentExpression' && isName(node.left)) ||
      (node.type === 'UnaryExpression' && node.operator === 'typeof' && isName(node.argument)) ||
      (isName(node) && isDeclared(node, parent)),
  );
  if (isChanged) return [];
  return all.flatMap(({ node, parent }): Found[] => {
    if (node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern' && isName(node.init))
      return unpacked(node.id, isContext, name);
    // Copied, looked through, asked for a name, as an object is.
    const isWhole =
      (node.type === 'SpreadElement' && parent?.type === 'ObjectExpression' && isName(node.argument)) ||
      (node.type === 'BinaryExpression' && node.operator === 'in' && isName(node.right)) ||
      (node.type === 'ForInStatement' && isName(node.right)) ||
      (node.type === 'CallExpression' &&
        /^Object\.\w+$/.test(sourceOf(node.callee, text)) &&
        node.arguments.some(isName));
    if (isWhole) {
      const shown = node.type === 'ForInStatement' ? { start: node.left.start, end: node.right.end } : node;
      return [{ node, name: sourceOf(shown, text), advice: isContext ? REQUEST : WHOLE }];
    }
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') {
      const called = program.named.get(node.callee.name);
      const given = called?.params[node.arguments.findIndex(isName)];
      return called && given ? readsOf({ of: called, param: given, isContext }, program, [...callers, of]) : [];
    }
    if (node.type !== 'MemberExpression' || !isName(node.object)) return [];
    const property = propertyOf(node);
    const isReplaced = parent?.type === 'LogicalExpression' && parent.left === node;
    if (property === undefined || property in String.prototype || isReplaced) return [];
    return [{ node, name: sourceOf(node, text), advice: adviceOn(property, isContext) }];
  });
}

function unpacked(pattern: AnyNode, isContext: boolean, from: string): Found[] {
  return membersOf(pattern).flatMap(({ node, name }) =>
    name in String.prototype ? [] : [{ node, name: `${from}.${name}`, advice: adviceOn(name, isContext) }],
  );
}

/** The names in a pattern such as `{ a, b = 1 }`, and whether a default replaces a missing value. */
function membersOf(pattern: AnyNode): { node: AnyNode; name: string; isReplaced: boolean }[] {
  if (pattern.type !== 'ObjectPattern') return [];
  return pattern.properties.flatMap((node) => {
    if (node.type !== 'Property' || node.computed || node.key.type !== 'Identifier') return [];
    return [{ node, name: node.key.name, isReplaced: node.value.type === 'AssignmentPattern' }];
  });
}

function adviceOn(property: string, isContext: boolean): Advice {
  const of = isContext ? 'context' : 'event';
  const known = isContext ? OF_CONTEXT : OF_EVENT;
  return known.get(property) ?? [`${of} is a JSON string`, `JSON.parse(${of}).${property}`];
}

function propertyOf(node: AnyNode): string | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  const { property, computed } = node;
  if (!computed) return property.type === 'Identifier' ? property.name : undefined;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

function isDeclared(node: AnyNode, parent: AnyNode | undefined): node is Extract<AnyNode, { type: 'Identifier' }> {
  if (node.type !== 'Identifier' || !parent) return false;
  if (parent.type === 'Property') return parent.value === node && parent.shorthand;
  if ('params' in parent && parent.params.some((param) => param === node)) return true;
  // Of a variable, function or class, and of an import.
  return ('id' in parent && parent.id === node) || ('local' in parent && parent.local === node);
}

/** Is it the name of a member, which is called so whatever there is of that name? */
function isNameOnly(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === 'MemberExpression') return parent.property === node && !parent.computed;
  return (parent?.type === 'Property' || parent?.type === 'MethodDefinition') && parent.key === node;
}

/** The function with that source, which of a method includes its name. */
function functionOf(source: string, program: AnyNode, text: string): FunctionNode | undefined {
  return nodesIn(program)
    .filter(({ node }) => sourceOf(node, text) === source)
    .map(({ node }) => (node.type === 'Property' || node.type === 'MethodDefinition' ? node.value : node))
    .find(isFunction);
}

function isFunction(node: AnyNode): node is FunctionNode {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

function namedFunctionsIn(program: AnyNode): ReadonlyMap<string, FunctionNode> {
  return new Map(
    nodesIn(program).flatMap(({ node, parent }): [string, FunctionNode][] => {
      const id =
        node.type === 'FunctionDeclaration' ? node.id : parent?.type === 'VariableDeclarator' ? parent.id : undefined;
      return id?.type === 'Identifier' && isFunction(node) ? [[id.name, node]] : [];
    }),
  );
}

function sourceOf({ start, end }: { start: number; end: number }, text: string): string {
  return text.slice(start, end);
}

/** The forms in which a function can be written: alone, as a method of an object, or of a class. */
const FORMS = [
  (source: string) => `(${source})`,
  (source: string) => `({${source}})`,
  (source: string) => `(class{${source}})`,
];

/** Does a function declare a third parameter, or use `arguments`? Throws if its source cannot be read. */
export function declaresCallback(source: string): boolean {
  for (const form of FORMS) {
    let own: FunctionNode | undefined;
    try {
      const options = { ecmaVersion: 'latest', allowSuperOutsideMethod: true } as const;
      // as: its type leaves out which nodes there are
      const program = parseExpressionAt(form(source), 0, options) as AnyNode;
      own = nodesIn(program)
        .map(({ node }) => node)
        .find(isFunction);
    } catch {
      continue; // It was written in another form.
    }
    if (!own) continue;
    const parts = [...own.params, own.body];
    return (
      own.params.length >= 3 || own.params.at(-1)?.type === 'RestElement' || parts.some((part) => usesArguments(part))
    );
  }
  throw new Error('there is no source to read');
}

/** Does it use the `arguments` of the function around it? Only arrow functions inside share them. */
function usesArguments(node: AnyNode): boolean {
  if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') return false;
  if (node.type === 'Identifier') return node.name === 'arguments';
  return Object.entries(node)
    .filter(([name]) => (name !== 'property' && name !== 'key') || ('computed' in node && node.computed))
    .flatMap(([, value]) => value)
    .some((value) => isNode(value) && usesArguments(value));
}

function nodesIn(top: AnyNode): { node: AnyNode; parent: AnyNode | undefined }[] {
  const all: { node: AnyNode; parent: AnyNode | undefined }[] = [];
  const visit = (node: AnyNode, parent: AnyNode | undefined): void => {
    all.push({ node, parent });
    for (const value of Object.values(node).flat()) if (isNode(value)) visit(value, node);
  };
  visit(top, undefined);
  return all;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
