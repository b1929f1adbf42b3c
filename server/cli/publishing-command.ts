import type { Command } from 'commander';
import { z } from 'zod';
import { UserError } from '../config.ts';
import { type PublishingPlan, publishingRows } from '../contract/publishing.ts';
import type { BodyOf } from '../contract/row.ts';
import { jsonBody } from '../contract/row-client.ts';
import { USER_FAILURE } from './describe-failure.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, styled, type Terminal } from './terminal.ts';

/** The other platform may be far away, and have much. */
const PUBLISHING_TIMEOUT_MS = 600_000;

type Asked = BodyOf<typeof publishingRows.planPublishing>;

const NOTES = `
PATH is FQON/WORKSPACE/ENVIRONMENT, by names, and all that is in it; or that and /lambdas/NAME or /apis/NAME.
Who you are at META_URL is asked for, or in TERRARIUM_REMOTE_USER and TERRARIUM_REMOTE_PASSWORD (an API key and its
secret, or a user name and its password), or TERRARIUM_REMOTE_TOKEN. None of it is kept.
Values of secrets are never carried; nothing is ever deleted; run again it does what is left.`;

/** `terrarium pull META_URL PATH` and `terrarium push META_URL PATH`: lambdas, APIs and endpoints to and from another platform. */
export function addPublishingCommands(program: Command, terminal: Terminal): void {
  const ways = { pull: 'here from another platform', push: 'from here to another platform' };
  for (const direction of ['pull', 'push'] as const) {
    const command = program
      .command(direction)
      .description(`bring lambdas with their APIs and endpoints ${ways[direction]}`)
      .argument('<META_URL>', 'address of its resource service, such as https://meta.example.com')
      .argument('<PATH>', 'the environment there, such as demo/website/development')
      .option('--here <PATH>', 'the environment here, unless it is called the same')
      .option('--dry-run', 'only print what would change')
      .option('-y, --yes', 'do it without asking')
      .option('--overwrite', 'do it in spite of conflicts, too');
    if (direction === 'push') command.option('--anyway', 'do it although the check list is not all ticked');
    addPlatformOptions(command.addHelpText('after', NOTES)).action(async (metaUrl: string, path: string) => {
      await publish(command, terminal, { direction, metaUrl, path });
    });
  }
}

async function publish(command: Command, terminal: Terminal, way: Omit<Asked, 'credentials'>): Promise<void> {
  const client = await connect(command, terminal);
  const is = (option: string) => command.getOptionValue(option) === true;
  const credentials = await remoteCredentials(terminal, way.metaUrl);
  const environment = await environmentHere(client, textOption(command, 'here') ?? way.path, {
    mayMake: way.direction === 'pull',
    isDry: is('dryRun'),
  });
  const call = { path: { environment_id: environment }, timeoutMs: PUBLISHING_TIMEOUT_MS };
  const asked = { ...way, credentials };
  const plan = await client.ask(publishingRows.planPublishing, { ...call, json: asked });
  const isJson = is('json');
  if (is('dryRun') || !isJson)
    printAnswer(command, terminal, plan, () => printLines(planLines(plan, terminal), terminal));
  const todo = plan.steps.filter(({ action }) => action !== 'unchanged');
  if (is('dryRun') || todo.length === 0) return;

  const missing = todo.flatMap(({ id, missing: what }) => (what === undefined ? [] : [`${id} needs ${what}`]));
  if (missing.length > 0) throw new ExitWith(USER_FAILURE, `nothing was done. ${missing.join('; ')}`);
  const conflicts = todo.filter(({ conflict }) => conflict !== undefined).map(({ id }) => id);
  if (conflicts.length > 0 && !is('overwrite')) {
    const advice = 'look at the plan, and say --overwrite if that is what you want';
    throw new ExitWith(NO, `nothing was done: ${conflicts.join(', ')} would overwrite what others did; ${advice}`);
  }
  const unticked = plan.checks.filter(({ isGood }) => !isGood).map(({ name }) => name);
  if (unticked.length > 0 && !is('anyway')) {
    throw new ExitWith(NO, `nothing was done: not ticked: ${unticked.join(', ')}; put it right, or say --anyway`);
  }
  if (!is('yes')) {
    if (!terminal.isInteractive) throw new UserError('nobody is there to be asked: say --yes to do it');
    const answer = await terminal.ask(`${way.direction} ${todo.length} to ${plan.to}? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new ExitWith(NO, 'nothing was done');
  }
  const overwrite = is('overwrite') ? conflicts : [];
  const carried = await client.ask(publishingRows.carryPublishing, {
    ...call,
    json: { ...asked, seen: plan.seen, overwrite },
  });
  printAnswer(command, terminal, carried, () =>
    printLines(
      carried.done.map((step) => `done: ${step}`),
      terminal,
    ),
  );
  if (carried.failed) {
    const { step, sentence } = carried.failed;
    const rest = `not done: ${carried.notDone.join(', ')}; run it again to go on from there`;
    throw new ExitWith(NO, `${step}: ${sentence}\n${rest}`);
  }
}

/** From the environment, or from whoever sits there. */
async function remoteCredentials(terminal: Terminal, metaUrl: string): Promise<Asked['credentials']> {
  const { TERRARIUM_REMOTE_TOKEN: token, TERRARIUM_REMOTE_USER, TERRARIUM_REMOTE_PASSWORD } = terminal.env;
  if (token) return { token };
  const isAsked = terminal.isInteractive;
  const user = TERRARIUM_REMOTE_USER || (isAsked ? await terminal.ask(`API key or user name at ${metaUrl}: `) : '');
  const hidden = () => terminal.ask('its secret or password (not shown): ', { isHidden: true });
  const password = TERRARIUM_REMOTE_PASSWORD || (isAsked && user ? await hidden() : '');
  if (user && password) return { user, password };
  throw new UserError(
    `${metaUrl} has to know who you are: set TERRARIUM_REMOTE_USER and TERRARIUM_REMOTE_PASSWORD, or TERRARIUM_REMOTE_TOKEN`,
  );
}

const listSchema = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** Finds the environment of that path on this platform, and for a pull makes what is not there. */
async function environmentHere(
  client: PlatformClient,
  path: string,
  { mayMake, isDry }: { mayMake: boolean; isDry: boolean },
): Promise<string> {
  const [fqon = '', workspace = '', environment = ''] = path.replace(/^\/+/, '').split('/');
  if (!fqon || !workspace || !environment)
    throw new UserError(`"${path}" is no path of an environment: give FQON/WORKSPACE/ENVIRONMENT`);
  const known = await client.json('GET', '/meta/orgs?expand=true', organizations);
  const isThere = (name: string) => name === 'root' || known.some((one) => one.properties.fqon === name);
  const make = async (at: string, body: object): Promise<string> =>
    (await client.json('POST', `/meta${at}`, made, jsonBody(body))).id;
  const absent = (what: string) => {
    const advice = isDry ? 'without --dry-run it would be made' : 'say with --here which one is meant';
    return new UserError(`there is no ${what} here: ${advice}`);
  };
  const names = fqon.split('.');
  for (const [at, name] of names.entries()) {
    const parent = at === 0 ? 'root' : names.slice(0, at).join('.');
    const whole = names.slice(0, at + 1).join('.');
    if (isThere(whole)) continue;
    if (!mayMake || isDry) throw absent(`organization '${whole}'`);
    await make(`/${parent}`, { name });
  }
  const find = async (at: string, name: string) =>
    (await client.json('GET', `/meta${at}?name=${encodeURIComponent(name)}`, listSchema)).find(
      (one) => one.name === name,
    )?.id;
  const one = async (at: string, noun: string, name: string, properties?: object) => {
    const found = await find(at, name);
    if (found !== undefined) return found;
    if (!mayMake || isDry) throw absent(`${noun} '${fqon}/${noun === 'workspace' ? name : `${workspace}/${name}`}'`);
    return make(at, { name, ...(properties && { properties }) });
  };
  const workspaceId = await one(`/${fqon}/workspaces`, 'workspace', workspace);
  const type = { environment_type: 'development' };
  return one(`/${fqon}/workspaces/${workspaceId}/environments`, 'environment', environment, type);
}

const organizations = z.array(z.looseObject({ properties: z.looseObject({ fqon: z.string() }) }));
const made = z.looseObject({ id: z.string() });

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
  for (const sentence of left) yield `not carried: ${sentence}`;
  for (const { name, isGood, sentence } of checks) yield `[${isGood ? 'x' : ' '}] ${name}: ${sentence}`;
  const counts = (['create', 'update', 'unchanged'] as const).map(
    (action) => `${steps.filter((step) => step.action === action).length} ${action}`,
  );
  yield counts.join(', ');
}
