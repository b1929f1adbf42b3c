import { Socket } from 'node:net';
import type { OutboundRule } from '../../model/outbound-rule.ts';
import { FrameReader, writeFrame } from '../frames.ts';
import type { OutboundNews } from '../process-messages.ts';
import { FrameType, type NewsAddress, type RulesHead } from '../protocol.ts';

/**
 * The way by which what a lambda has started tells the emulator of its calls. Nobody is kept alive by it, and nothing comes of it
 * when the emulator is gone. To be called before connections are watched.
 */
export function tellHome(
  { port, token }: NewsAddress,
  changeRules: (rules: readonly OutboundRule[]) => void,
): (news: OutboundNews, bytes?: Uint8Array) => void {
  const home = new Socket();
  const frames = new FrameReader(0);
  home.on('error', () => {});
  home.on('data', (chunk: Buffer) => {
    // As: the other end is the emulator's.
    for (const { type, head } of frames.push(chunk)) {
      if (type !== FrameType.rules) continue;
      changeRules((head as RulesHead).rules);
      // Who changed them waits until they hold.
      writeFrame(home, FrameType.rules, {});
    }
  });
  home.connect(port, '127.0.0.1').unref();
  writeFrame(home, FrameType.offspring, { token });
  return (news, bytes) => {
    if (!home.destroyed) writeFrame(home, FrameType.outbound, news, bytes);
  };
}
