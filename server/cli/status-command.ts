import type { Command } from 'commander';
import { z } from 'zod';
import { platformRows } from '../contract/meta-global.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, findTarget } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, rowLines, type Terminal } from './terminal.ts';

/** `terrarium status`: does the platform run, where, and how does it fare? */
export function addStatusCommand(program: Command, terminal: Terminal): void {
  const command = program.command('status').description('say whether the platform runs, where, and how it fares');
  addPlatformOptions(command).action(async () => {
    const status = await statusOf(command, terminal);
    const rows = Object.entries(status).map(([name, value]) => [name, textOf(value)]);
    printAnswer(command, terminal, status, () => printLines(rowLines(rows), terminal));
    if (!status.running || status.health !== 'healthy') throw new ExitWith(NO);
  });
}

interface Status {
  running: boolean;
  health?: string;
  [more: string]: unknown;
}

async function statusOf(command: Command, terminal: Terminal): Promise<Status> {
  const target = await findTarget(command, terminal);
  if (target.kind === 'address') return { running: true, ...(await askedStatus(target.client)) };
  if (!target.running) return { running: false, dataDir: target.dataDir };
  const { client, instance } = target.running;
  try {
    return { running: true, ...(await askedStatus(client)), ...instance };
  } catch (failure) {
    // The process lives; what it is can only be told by its answers.
    if (!(failure instanceof ExitWith)) throw failure;
    return { running: false, reason: failure.message, dataDir: target.dataDir };
  }
}

const placesSchema = z.object({ metaUrl: z.string(), securityUrl: z.string(), gatewayUrl: z.string() });

async function askedStatus(client: PlatformClient): Promise<Omit<Status, 'running'>> {
  const { status, version, services } = await client.ask(platformRows.readAbout);
  const places = await client.json('GET', '/', placesSchema);
  return { health: status, version, baseUrl: client.baseUrl, ...places, services };
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return value === true ? 'yes' : value === false ? 'no' : String(value);
  return Object.entries(value)
    .map(([name, state]) => `${name}: ${state}`)
    .join(', ');
}
