import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';

it('tells viewers who may not see everything only that something changed, whatever its data contains', async () => {
  const stream = new EventStream('epoch');
  const app = express();
  app.get('/', (req, res) => stream.attend(req, res, () => false));
  const server = app.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // TCP
    const response = await fetch(`http://127.0.0.1:${port}/`);
    stream.publish('containers', { reason: 'first\u2028second\u2029third' });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/event: containers\n.*\n\n/.test(text)) break;
    }
    expect(text).toContain('event: containers\ndata: []\n\n');
  } finally {
    stream.stop();
    server.close();
  }
});
