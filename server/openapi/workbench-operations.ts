import { z } from 'zod';
import { may } from '../contract/right.ts';
import { gone, type Operation, ok, ref, rowsOf } from './operation.ts';

const workbench = rowsOf('Workbench');
const time = z.iso.datetime();

const testEvents = z.array(
  z.object({ name: z.string(), body: z.string().describe('The event as text, as the lambda is given it') }),
);
const fileLink = z.object({
  path: z.string().describe('Absolute path on the machine of the platform'),
  takenAt: time.optional().describe('When the lambda was last given what is in the file'),
  problem: z.string().optional().describe('Why it does not have what is in the file'),
});
const debugging = z.object({
  startedAt: time,
  url: z.string().optional().describe('What a debugger attaches to; absent until the process listens'),
  file: z.string().optional().describe('The file that the process runs: where breakpoints go'),
  problem: z.string().optional().describe('Why there is no process'),
});

/** What working on a lambda sends and answers. */
export const workbenchSchemas = {
  TestEvents: z.object({ events: testEvents }),
  LinkWish: z.object({ path: z.string().min(1) }),
  FileLink: fileLink,
  Debugging: debugging,
  Workbench: z.object({ events: testEvents, link: fileLink.optional(), debug: debugging.optional() }),
};

/** Working on one lambda: the file that its code follows, events to try it with, a debugger. */
export const workbenchOperations: readonly Operation[] = [
  workbench('get /inspect/lambdas/{lambda_id}/workbench', 'readWorkbench', 'Test events, linked file, debugger', {
    right: may('lambda.view', 'lambda_id'),
    description: 'The linked file and the debugger are shown to the root user only.',
    success: ok(ref('Workbench')),
    errors: [403, 404],
  }),
  workbench('put /inspect/lambdas/{lambda_id}/events', 'replaceTestEvents', 'Keep other test events', {
    right: may('lambda.invoke', 'lambda_id'),
    body: { schema: ref('TestEvents') },
    success: ok(ref('TestEvents')),
    errors: [403, 404, 503],
  }),
  workbench('post /inspect/lambdas/{lambda_id}/link', 'linkFile', "Let the lambda's code follow a file", {
    right: 'root',
    description:
      'For the root user. The file is on the machine of the platform. The lambda is given what is in it now and whenever it is ' +
      'saved; each time is a commit of its own, with `file` as what it came through.',
    body: { schema: ref('LinkWish') },
    success: ok(ref('FileLink')),
    errors: [403, 404, 409, 422, 503],
  }),
  workbench('delete /inspect/lambdas/{lambda_id}/link', 'unlinkFile', 'Let it follow the file no longer', {
    right: 'root',
    description: 'For the root user. The lambda keeps the code that it has.',
    success: gone,
    errors: [403, 404, 503],
  }),
  workbench('post /inspect/lambdas/{lambda_id}/debug', 'debugLambda', 'Run it so that a debugger can attach', {
    right: 'root',
    description:
      'For the root user. From its next call on the lambda runs in one process, without a time-out, for as long as it is ' +
      'debugged. One lambda at a time: 409 while it is another one.',
    success: ok(ref('Debugging')),
    errors: [403, 404, 409],
  }),
  workbench('delete /inspect/lambdas/{lambda_id}/debug', 'endDebugging', 'Run it as always', {
    right: 'root',
    description: 'For the root user. A call that stands at a breakpoint ends as `interrupted`.',
    success: gone,
    errors: [403, 404],
  }),
];
