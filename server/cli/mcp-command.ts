import { once } from 'node:events';
import { defineCommand } from './command.ts';
import { platformOptions } from './instance-options.ts';

/** A longer message cannot be answered; the tools accept less. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const { json: _, ...options } = platformOptions;

export const mcpCommand = defineCommand({
  name: 'mcp',
  description: 'serve the tools for coding agents (Model Context Protocol) on standard input and output',
  options,
  notes: `
An agent starts this command; docs/guides/agents.md has the configuration of common ones. The tools use the platform that runs when they are
called, with its API key. A running platform also serves them at {base_url}/mcp.`,
  async run({ terminal, connect }) {
    const [{ serveStdio, StdioServerTransport }, { toolServers }, { ToolClient }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../api/mcp/tool-server.ts'),
      import('../api/mcp/tool-client.ts'),
    ]);
    const createServer = toolServers();
    const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
    // For each call, because the platform can have been started, or started again, since the last one.
    const connectTools = async () => {
      const { baseUrl, authorization } = await connect();
      return new ToolClient(baseUrl, authorization);
    };
    const onerror = (failure: Error) => terminal.complain(`terrarium: ${failure.message}`);
    serveStdio(() => createServer(connectTools), { transport, onerror });
    await once(process.stdin, 'close');
  },
});
