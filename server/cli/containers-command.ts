import { z } from 'zod';
import { jsonBody } from '../api/client/route-client.ts';
import { containerRoutes } from '../api/routes/containers.ts';
import { treeRoutes } from '../api/routes/tree.ts';
import { pathsIn } from '../model/resource-path.ts';
import { UserError } from '../platform/config.ts';
import { defineCommand, text } from './command.ts';
import { ExitWith } from './describe-failure.ts';
import { commandOn, findResource, platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { rowLines } from './terminal.ts';

const CONTAINER = [
  '<container>',
  'ID, path such as /demo/website/development/shop, or unique name of the container',
] as const;

/** Containers that one call of the command lists. */
const MAX_LISTED = 1_000;

const containerSchema = z.looseObject({
  properties: z.looseObject({
    image: z.string(),
    status: z.string(),
    num_instances: z.int(),
    tasks_running: z.int(),
    status_detail: z.looseObject({ reason: z.string().optional() }).optional(),
  }),
});

const findContainer = (client: PlatformClient, named: string) =>
  findResource(client, ['containers'], named, CONTAINER[1]);

/** The number of restarts of all instances; undefined without a container engine. */
async function restartsOf(client: PlatformClient, id: string): Promise<number | undefined> {
  const path = { container_id: id };
  const instances = await client.ask(containerRoutes.listInstances, { path }).catch(() => undefined);
  return instances?.reduce((sum, { restarts }) => sum + restarts, 0);
}

export const containersCommand = defineCommand({
  name: 'containers',
  description: 'list, restart and scale containers, and run commands in them',
  commands: [
    defineCommand({
      name: 'list',
      isDefault: true,
      description: 'list containers with their status, running instances and restarts (the default)',
      options: platformOptions,
      async ask(client) {
        const query = { word: 'containers', limit: String(MAX_LISTED) };
        const found = await client.ask(treeRoutes.searchTree, { query });
        const paths = pathsIn(found);
        const listed = await Promise.all(
          found.rows.map(async ({ id }, index) => {
            const { properties } = await client.json('GET', `/meta/root/containers/${id}`, containerSchema);
            const {
              image,
              status,
              status_detail: detail,
              num_instances: instances,
              tasks_running: running,
            } = properties;
            const state = { image, status, reason: detail?.reason, instances, running };
            return { id, path: paths[index] ?? '', ...state, restarts: await restartsOf(client, id) };
          }),
        );
        const lines = rowLines(
          listed.map((container) => [
            container.path,
            container.status,
            `${container.running}/${container.instances}`,
            `${container.restarts ?? '?'} restarts`,
            container.image,
            container.reason ?? '',
          ]),
        );
        return { answer: listed, lines };
      },
    }),
    commandOn(CONTAINER, 'restart', 'replace the instances of a container', async (client, named) => {
      const id = await findContainer(client, named);
      await client.ask(containerRoutes.restartContainer, { path: { container_id: id } });
      return { answer: { id }, lines: [`${named} is restarting`] };
    }),
    defineCommand({
      name: 'scale',
      description: 'set the number of instances of a container; 0 suspends it',
      arguments: [CONTAINER, ['<instances>', 'number of instances']],
      options: platformOptions,
      async ask(client, _context, named = '', count = '') {
        if (!/^\d{1,4}$/.test(count))
          throw new UserError(`the number of instances is "${count}"; it must be a whole number`);
        const id = await findContainer(client, named);
        const path = `/meta/root/containers/${id}/scale?numInstances=${count}`;
        await client.json('POST', path, z.unknown());
        return { answer: { id, instances: Number(count) }, lines: [`${named} is scaled to ${count}`] };
      },
    }),
    defineCommand({
      name: 'exec',
      description: 'run a command in an instance of a container, and exit with its exit code',
      arguments: [CONTAINER, ['<cmd...>', 'the command and its arguments; no shell is used']],
      passesOptionsOn: true,
      options: {
        containerInstance: text(
          '--container-instance <ID>',
          'ID of the instance or a prefix of it (default: the first)',
        ),
        ...platformOptions,
      },
      async run({ options, terminal, connect }, named = '', ...command) {
        const client = await connect();
        const id = await findContainer(client, named);
        const { containerInstance: instance } = options;
        const outcome = await client.ask(containerRoutes.execInContainer, {
          path: { container_id: id },
          ...jsonBody({ command, instance }),
        });
        if (outcome.stdout !== '') terminal.printDocument(outcome.stdout.replace(/\n$/, ''));
        if (outcome.stderr !== '') terminal.complain(outcome.stderr.trimEnd());
        if (outcome.exitCode !== 0) throw new ExitWith(outcome.exitCode);
      },
    }),
  ],
});
