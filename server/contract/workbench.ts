import { z } from 'zod';
import { named } from './named.ts';
import { A_LAMBDA, time } from './parts.ts';
import { may } from './right.ts';
import { gone, json, ok, rowsOf } from './row.ts';

const MAX_EVENTS = 50;
const LONGEST_EVENT = 256 * 1024;

const testEvent = z.strictObject({
  name: z.string().trim().min(1).max(80),
  body: z.string().max(LONGEST_EVENT).describe('The event as text, as the lambda is given it'),
});
export type TestEvent = z.output<typeof testEvent>;

/** The events that are kept for trying a lambda, in the order in which they are shown. */
const testEvents = named(
  'TestEvents',
  z.strictObject({
    events: z
      .array(testEvent)
      .max(MAX_EVENTS)
      .refine((events) => new Set(events.map(({ name }) => name)).size === events.length, 'has two events of one name'),
  }),
);

const linkRequest = named(
  'LinkRequest',
  z.strictObject({ path: z.string().min(1).max(4096).describe('Absolute, on the machine of the platform') }),
);

const fileLink = named(
  'FileLink',
  z.object({
    path: z.string().describe('Absolute path on the machine of the platform'),
    takenAt: time.optional().describe('When the lambda was last given what is in the file'),
    problem: z.string().optional().describe('Why it does not have what is in the file'),
  }),
);
export type FileLink = z.output<typeof fileLink>;

const debugging = named(
  'Debugging',
  z.object({
    startedAt: time,
    url: z.string().optional().describe('What a debugger attaches to; absent until the process listens'),
    file: z.string().optional().describe('The file that the process runs: where breakpoints go'),
    problem: z.string().optional().describe('Why there is no process'),
  }),
);
export type Debugging = z.output<typeof debugging>;

const schedule = z.object({
  nextAt: time.optional().describe('Absent while the setting lambdas.periodic is off, or when it is never due again'),
  lastAt: time.optional(),
  leftOut: z.int().describe('Runs left out because the one before was under way'),
});

const workbench = named(
  'Workbench',
  z.object({
    events: z.array(testEvent),
    link: fileLink.optional(),
    debug: debugging.optional(),
    schedule: schedule.optional().describe('Of a lambda with periodic_info'),
  }),
);

/** Working on one lambda: the file that its code follows, events to try it with, a debugger. */
export const workbenchRows = rowsOf('Workbench', {
  readWorkbench: {
    route: 'get /inspect/lambdas/{lambda_id}/workbench',
    summary: 'Test events, linked file, debugger, next run by the clock',
    description: 'The linked file and the debugger are shown to the root user only.',
    right: may('lambda.view', A_LAMBDA.id),
    target: A_LAMBDA,
    answer: ok(workbench),
  },
  replaceTestEvents: {
    route: 'put /inspect/lambdas/{lambda_id}/events',
    summary: 'Keep other test events',
    right: may('lambda.invoke', A_LAMBDA.id),
    target: A_LAMBDA,
    body: json(testEvents),
    answer: ok(testEvents),
    errors: [503],
  },
  linkFile: {
    route: 'post /inspect/lambdas/{lambda_id}/link',
    summary: "Let the lambda's code follow a file",
    description:
      'For the root user. The file is on the machine of the platform. The lambda is given what is in it now and whenever it is ' +
      'saved; each time is a commit of its own, with `file` as what it came through.',
    right: 'root',
    target: A_LAMBDA,
    body: json(linkRequest),
    answer: ok(fileLink),
    errors: [409, 422, 503],
  },
  unlinkFile: {
    route: 'delete /inspect/lambdas/{lambda_id}/link',
    summary: 'Let it follow the file no longer',
    description: 'For the root user. The lambda keeps the code that it has.',
    right: 'root',
    target: A_LAMBDA,
    answer: gone,
    errors: [503],
  },
  debugLambda: {
    route: 'post /inspect/lambdas/{lambda_id}/debug',
    summary: 'Run it so that a debugger can attach',
    description:
      'For the root user. From its next call on the lambda runs in one process, without a time-out, for as long as it is ' +
      'debugged. Ten lambdas at a time: 409 for another one.',
    right: 'root',
    target: A_LAMBDA,
    answer: ok(debugging),
    errors: [409],
  },
  endDebugging: {
    route: 'delete /inspect/lambdas/{lambda_id}/debug',
    summary: 'Run it as always',
    description: 'For the root user. A call that stands at a breakpoint ends as `interrupted`.',
    right: 'root',
    target: A_LAMBDA,
    answer: gone,
  },
});
