import { z } from 'zod';
import { jsonBody } from '../api/client/route-client.ts';
import { type PublishingPlan, publishingRoutes } from '../api/routes/publishing.ts';
import type { BodyOf } from '../api/routes/route.ts';
import { UserError } from '../platform/config.ts';
import { type Context, defineCommand, flag, text, type ValuesOf } from './command.ts';
import { ExitWith, NO, USER_FAILURE } from './describe-failure.ts';
import { platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { styled, type Terminal } from './terminal.ts';

const PUBLISHING_TIMEOUT_MS = 600_000;

type PublishingRequest = BodyOf<typeof publishingRoutes.planPublishing>;

const NOTES = `
PATH is FQON/WORKSPACE/ENVIRONMENT, by names, for everything in it. To select one lambda or API, append /lambdas/NAME or /apis/NAME.
Credentials for META_URL come from TERRARIUM_REMOTE_USER and TERRARIUM_REMOTE_PASSWORD (an API key and its secret, or a
user name and its password) or from TERRARIUM_REMOTE_TOKEN. Otherwise the command prompts for them. They are not stored.
Values of secrets are never copied, and nothing is ever deleted. After an interruption, run the command again to continue.`;

const options = {
  here: text('--here <PATH>', 'environment on this platform (default: PATH)'),
  dryRun: flag('--dry-run', 'only print what would change'),
  yes: flag('-y, --yes', 'continue without confirmation'),
  overwrite: flag('--overwrite', 'overwrite resources with conflicts'),
};
const anyway = flag('--anyway', 'push even if checks failed');
type Chosen = ValuesOf<typeof options & typeof platformOptions> & { anyway?: boolean };

const META_URL = [
  '<META_URL>',
  'address of the resource service of the other platform, such as https://meta.example.com',
] as const;
const PATH = ['<PATH>', 'environment on the other platform, such as demo/website/development'] as const;

export const pullCommand = defineCommand({
  name: 'pull',
  description: 'copy lambdas with their APIs and endpoints from another platform to this one',
  arguments: [META_URL, PATH],
  options: { ...options, ...platformOptions },
  notes: NOTES,
  run: (context, metaUrl = '', path = '') => publish(context, { direction: 'pull', metaUrl, path }),
});

export const pushCommand = defineCommand({
  name: 'push',
  description: 'copy lambdas with their APIs and endpoints from this platform to another one',
  arguments: [META_URL, PATH],
  options: { ...options, anyway, ...platformOptions },
  notes: NOTES,
  run: (context, metaUrl = '', path = '') => publish(context, { direction: 'push', metaUrl, path }),
});

async function publish(
  { options: chosen, terminal, connect, print }: Pick<Context, 'terminal' | 'connect' | 'print'> & { options: Chosen },
  way: Omit<PublishingRequest, 'credentials'>,
): Promise<void> {
  const client = await connect();
  const credentials = await remoteCredentials(terminal, way.metaUrl);
  const environment = await environmentHere(client, chosen.here ?? way.path, {
    mayCreate: way.direction === 'pull',
    isDry: chosen.dryRun,
  });
  const call = { path: { environment_id: environment }, timeoutMs: PUBLISHING_TIMEOUT_MS };
  const publishingRequest = { ...way, credentials };
  const plan = await client.ask(publishingRoutes.planPublishing, { ...call, json: publishingRequest });
  if (chosen.dryRun || !chosen.json) print(plan, planLines(plan, terminal));
  const todo = plan.steps.filter(({ action }) => action !== 'unchanged');
  if (chosen.dryRun || todo.length === 0) return;

  const missing = todo.flatMap(({ id, missing: missingPart }) =>
    missingPart === undefined ? [] : [`${id} needs ${missingPart}`],
  );
  if (missing.length > 0) throw new ExitWith(USER_FAILURE, `${way.direction} stopped: ${missing.join('; ')}`);
  const conflicts = todo.filter(({ conflict }) => conflict !== undefined).map(({ id }) => id);
  if (conflicts.length > 0 && !chosen.overwrite) {
    const advice = 'To overwrite them, use --overwrite.';
    throw new ExitWith(NO, `${way.direction} stopped: ${conflicts.join(', ')} changed at the destination. ${advice}`);
  }
  const failed = plan.checks.filter(({ isGood }) => !isGood).map(({ name }) => name);
  if (failed.length > 0 && !chosen.anyway) {
    throw new ExitWith(
      NO,
      `push stopped: these checks failed: ${failed.join(', ')}. Fix them, or use --anyway to push without them.`,
    );
  }
  if (!chosen.yes) {
    if (!terminal.isInteractive)
      throw new UserError(
        'confirmation is required, but there is no terminal. Use --yes to continue without confirmation.',
      );
    // With --json, standard output contains only the result.
    if (chosen.json) for (const line of planLines(plan, terminal)) terminal.complain(line);
    const answer = await terminal.ask(`${way.direction} ${todo.length} to ${plan.to}? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new ExitWith(NO, `${way.direction} canceled`);
  }
  const overwrite = chosen.overwrite ? conflicts : [];
  const copied = await client.ask(publishingRoutes.applyPublishing, {
    ...call,
    json: { ...publishingRequest, seen: plan.seen, overwrite },
  });
  print(
    copied,
    copied.done.map((step) => `done: ${step}`),
  );
  if (copied.failed) {
    const { step, sentence } = copied.failed;
    const rest = `not done: ${copied.notDone.join(', ')}. Run the command again to continue.`;
    throw new ExitWith(NO, `${step}: ${sentence}\n${rest}`);
  }
}

/** Credentials from the environment, or from a prompt. */
async function remoteCredentials(terminal: Terminal, metaUrl: string): Promise<PublishingRequest['credentials']> {
  const { TERRARIUM_REMOTE_TOKEN: token, TERRARIUM_REMOTE_USER, TERRARIUM_REMOTE_PASSWORD } = terminal.env;
  if (token) return { token };
  const canAsk = terminal.isInteractive;
  const user = TERRARIUM_REMOTE_USER || (canAsk ? await terminal.ask(`API key or user name at ${metaUrl}: `) : '');
  const hidden = () => terminal.ask('secret or password (not shown): ', { isHidden: true });
  const password = TERRARIUM_REMOTE_PASSWORD || (canAsk && user ? await hidden() : '');
  if (user && password) return { user, password };
  throw new UserError(
    `credentials for ${metaUrl} are missing. Set TERRARIUM_REMOTE_USER and TERRARIUM_REMOTE_PASSWORD, or TERRARIUM_REMOTE_TOKEN.`,
  );
}

const listSchema = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** Finds the environment of that path on this platform; for a pull, creates what does not exist. */
async function environmentHere(
  client: PlatformClient,
  path: string,
  { mayCreate, isDry }: { mayCreate: boolean; isDry: boolean },
): Promise<string> {
  const [fqon = '', workspace = '', environment = ''] = path.replace(/^\/+/, '').split('/');
  if (!fqon || !workspace || !environment)
    throw new UserError(`"${path}" is not a path of an environment. Give FQON/WORKSPACE/ENVIRONMENT.`);
  const organizationList = await client.json('GET', '/meta/orgs?expand=true', organizations);
  const create = async (description: string, parent: string, body: object): Promise<string> => {
    if (mayCreate && !isDry) return (await client.json('POST', `/meta/${parent}`, createdResource, jsonBody(body))).id;
    const advice = isDry ? 'Without --dry-run it is created.' : 'Select another environment with --here.';
    throw new UserError(`${description} does not exist on this platform. ${advice}`);
  };
  const names = fqon.split('.');
  for (const [at, name] of names.entries()) {
    const part = names.slice(0, at + 1).join('.');
    if (part === 'root' || organizationList.some(({ properties }) => properties.fqon === part)) continue;
    await create(`organization '${part}'`, names.slice(0, at).join('.') || 'root', { name });
  }
  const findOrCreate = async (description: string, list: string, body: { name: string; properties?: object }) => {
    const query = new URLSearchParams({ name: body.name });
    const found = await client.json('GET', `/meta/${list}?${query}`, listSchema);
    return found.find(({ name }) => name === body.name)?.id ?? create(description, list, body);
  };
  const workspaces = `${fqon}/workspaces`;
  const workspaceId = await findOrCreate(`workspace '${fqon}/${workspace}'`, workspaces, { name: workspace });
  return findOrCreate(
    `environment '${fqon}/${workspace}/${environment}'`,
    `${workspaces}/${workspaceId}/environments`,
    {
      name: environment,
      properties: { environment_type: 'development' },
    },
  );
}

const organizations = z.array(z.looseObject({ properties: z.looseObject({ fqon: z.string() }) }));
const createdResource = z.looseObject({ id: z.string() });

const SIGNS = { create: '+', update: '~', unchanged: '=' };

function* planLines({ from, to, steps, left, checks }: PublishingPlan, terminal: Terminal): Generator<string> {
  yield `from ${from}`;
  yield `to   ${to}`;
  for (const { id, action, diff, patch, conflict, missing } of steps) {
    yield styled(terminal, 'bold', `${SIGNS[action]} ${id}`);
    if (conflict !== undefined) yield `  CONFLICT: ${conflict}`;
    if (missing !== undefined) yield `  MISSING: ${missing}`;
    if (action === 'update') yield `  patch: ${patch.map(({ op, path }) => `${op} ${path}`).join(', ')}`;
    for (const line of diff) yield `    ${line}`;
  }
  for (const sentence of left) yield `not copied: ${sentence}`;
  for (const { name, isGood, sentence } of checks) yield `[${isGood ? 'x' : ' '}] ${name}: ${sentence}`;
  const counts = (['create', 'update', 'unchanged'] as const).map(
    (action) => `${steps.filter((step) => step.action === action).length} ${action}`,
  );
  yield counts.join(', ');
}
