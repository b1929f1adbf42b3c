import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { selfSigned } from './self-signed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const facts = {
  commonName: 'here',
  hosts: ['localhost'],
  addresses: [Uint8Array.of(127, 0, 0, 1)],
  fromMs: Date.now() - DAY_MS,
  untilMs: Date.now() + DAY_MS,
};

it('says what it was told, and nothing that would let it vouch for others', () => {
  const fromMs = Date.UTC(2049, 11, 31, 1, 2, 3);
  const { certPem, keyPem } = selfSigned({ ...facts, fromMs, untilMs: Date.UTC(2051, 0, 1) });
  const certificate = new X509Certificate(certPem);
  expect([certificate.subject, certificate.issuer]).toEqual(['CN=here', 'CN=here']);
  expect(certificate.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(certificate.ca).toBe(false);
  // Of both forms in which a time can be written.
  expect([Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]).toEqual([fromMs, Date.UTC(2051, 0, 1)]);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
  expect(certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  expect(new X509Certificate(selfSigned(facts).certPem).serialNumber).not.toBe(certificate.serialNumber);
});

it('is believed by whoever trusts it, for its hosts and addresses, and by nobody else', async () => {
  const { certPem, keyPem } = selfSigned(facts);
  const server = createServer({ cert: certPem, key: keyPem }, (socket) => socket.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const ask = async (options: { servername?: string; ca?: string }): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, ...options });
    const [said] = await Promise.race([once(socket, 'data'), once(socket, 'error')]);
    socket.destroy();
    return String(said);
  };
  expect(await ask({ ca: certPem })).toBe('hello');
  expect(await ask({ ca: certPem, servername: 'localhost' })).toBe('hello');
  await expect(ask({ ca: certPem, servername: 'elsewhere' })).rejects.toThrow('elsewhere');
  await expect(ask({})).rejects.toThrow('self-signed');
  server.close();
});
