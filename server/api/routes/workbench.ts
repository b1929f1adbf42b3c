import { z } from 'zod';
import { A_LAMBDA, object, strictObject, time } from '../schemas/parts.ts';
import { defineRoutes, json, noContent, ok, permission, route } from './route.ts';

const MAX_EVENTS = 50;
const LONGEST_EVENT = 256 * 1024;

const testEvent = z.strictObject({
  name: z.string().trim().min(1).max(80),
  body: z.string().max(LONGEST_EVENT).describe('The event as text, as the lambda gets it'),
});
export type TestEvent = z.output<typeof testEvent>;

/** The test events of a lambda, in display order. */
const testEvents = strictObject('TestEvents', {
  events: z
    .array(testEvent)
    .max(MAX_EVENTS)
    .refine(
      (events) => new Set(events.map(({ name }) => name)).size === events.length,
      'must not contain two events with the same name',
    ),
});

const linkRequest = strictObject('LinkRequest', {
  path: z.string().min(1).max(4096).describe('Absolute path on the machine of the platform'),
});

const fileLink = object('FileLink', {
  path: z.string().describe('Absolute path on the machine of the platform'),
  takenAt: time.optional().describe('When the file was last copied to the lambda'),
  problem: z.string().optional().describe('Why the file could not be copied to the lambda'),
});
export type FileLink = z.output<typeof fileLink>;

const debugging = object('Debugging', {
  startedAt: time,
  url: z.string().optional().describe('Address for a debugger; absent until the process listens'),
  file: z.string().optional().describe('The file that the process runs; set breakpoints here'),
  problem: z.string().optional().describe('Why there is no process'),
});
export type Debugging = z.output<typeof debugging>;

const schedule = z.object({
  nextAt: time.optional().describe('Absent if the setting lambdas.periodic is off or no run is due'),
  lastAt: time.optional(),
  leftOut: z.int().describe('Number of runs that were skipped because the previous one was still running'),
});

const workbench = object('Workbench', {
  events: z.array(testEvent),
  link: fileLink.optional(),
  debug: debugging.optional(),
  schedule: schedule.optional().describe('Only for a lambda with periodic_info'),
});

export const workbenchRoutes = defineRoutes('Workbench', {
  readWorkbench: route('get /inspect/lambdas/{lambda_id}/workbench', permission('lambda.view', A_LAMBDA.id), {
    summary: 'Read the test events, linked file, debugger and next scheduled run',
    description: 'Only the root user sees the linked file and the debugger.',
    target: A_LAMBDA,
    answer: ok(workbench),
  }),
  replaceTestEvents: route('put /inspect/lambdas/{lambda_id}/events', permission('lambda.invoke', A_LAMBDA.id), {
    summary: 'Replace the test events',
    target: A_LAMBDA,
    body: json(testEvents, { events: [{ name: 'greeting', body: '{"greeting":"hello"}' }] }),
    answer: ok(testEvents),
  }),
  linkFile: route('post /inspect/lambdas/{lambda_id}/link', 'root', {
    summary: "Link the lambda's code to a file",
    description:
      'The file is on the machine of the platform. Its content is copied to the lambda now and whenever the ' +
      'file is saved. Each copy is a separate commit with the source `file`.',
    target: A_LAMBDA,
    body: json(linkRequest, { path: '/home/ada/lambdas/hello.js' }),
    answer: ok(fileLink),
    errors: [409, 422],
  }),
  unlinkFile: route('delete /inspect/lambdas/{lambda_id}/link', 'root', {
    summary: "Unlink the lambda's code",
    description: 'The lambda keeps its current code.',
    target: A_LAMBDA,
    answer: noContent,
  }),
  debugLambda: route('post /inspect/lambdas/{lambda_id}/debug', 'root', {
    summary: 'Start debugging a lambda',
    description:
      'From the next invocation, the lambda runs in one process without a timeout until you stop debugging. At ' +
      'most ten lambdas can be debugged at a time; another one returns 409.',
    target: A_LAMBDA,
    answer: ok(debugging),
    errors: [409],
  }),
  endDebugging: route('delete /inspect/lambdas/{lambda_id}/debug', 'root', {
    summary: 'Stop debugging a lambda',
    description: 'An invocation at a breakpoint ends as `interrupted`.',
    target: A_LAMBDA,
    answer: noContent,
  }),
});
