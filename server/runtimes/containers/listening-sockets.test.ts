import { expect, it } from 'vitest';
import { closedPortsSentence, parseSockets } from './listening-sockets.ts';

const TABLES = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0B00007F:9C41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3 1
   3: 020011AC:0BB9 010011AC:A000 01 00000000:00000000 00:00000000 00000000     0        0 4 1
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000
   1: 0000000000000000FFFF00000100007F:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000
   2: 00000000000000000000000000000000:1F93 00000000000000000000000000000000:0000 0A 00000000:00000000
`;

it("reads listening sockets and leaves out the engine's name server and open connections", () => {
  expect(parseSockets(TABLES)).toEqual([
    { port: 8080, isLoopback: true },
    { port: 3000, isLoopback: false },
    { port: 8081, isLoopback: true },
    { port: 8082, isLoopback: true },
    { port: 8083, isLoopback: false },
  ]);
});

it('says of closed ports where the program listens instead', () => {
  const sockets = parseSockets(TABLES);
  expect(closedPortsSentence([8080], sockets)).toMatch(/^listens on port 8080 of 127.0.0.1 only/);
  expect(closedPortsSentence([80], [{ port: 3000, isLoopback: false }])).toMatch(
    /^does not listen on port 80, but on 3000/,
  );
  expect(closedPortsSentence([80, 81], undefined)).toMatch(/^does not listen on ports 80, 81\. Check the port/);
});
