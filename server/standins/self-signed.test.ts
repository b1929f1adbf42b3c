import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { type SelfSigned, selfSigned } from './self-signed.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const FROM_MS = Date.UTC(2020, 0, 2, 3, 4, 5);
const UNTIL_MS = Date.UTC(2051, 11, 31, 23, 59, 58);

function make(wish: Partial<SelfSigned> = {}) {
  return selfSigned({
    commonName: 'Größe',
    dnsNames: ['localhost'],
    ipAddresses: [Uint8Array.of(127, 0, 0, 1)],
    fromMs: FROM_MS,
    untilMs: UNTIL_MS,
    ...wish,
  });
}

describe('a certificate that is its own issuer', () => {
  it('says what was asked for, before 2050 and after', () => {
    const certificate = new X509Certificate(make().certPem);
    expect(certificate.subject).toBe('CN=Größe');
    expect(certificate.issuer).toBe(certificate.subject);
    expect(certificate.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
    expect([certificate.validFrom, certificate.validTo].map(Date.parse)).toEqual([FROM_MS, UNTIL_MS]);
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual([SERVER_AUTH]);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it('has another number each time', () => {
    const numbers = Array.from({ length: 20 }, () => new X509Certificate(make().certPem).serialNumber);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('can have more names than a byte can count', () => {
    const dnsNames = Array.from({ length: 40 }, (_, number) => `host-${number}.example.com`);
    expect(new X509Certificate(make({ dnsNames }).certPem).checkHost('host-39.example.com')).toBe(
      'host-39.example.com',
    );
  });

  it('is trusted by whoever trusts it', async () => {
    const { keyPem, certPem } = make();
    const server = createServer({ key: keyPem, cert: certPem }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // As: a server on a TCP port always has one.
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: '127.0.0.1', port, ca: certPem, servername: 'localhost' });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
