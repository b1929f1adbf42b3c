import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { machineMs } from '../../../system/clock.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const ISSUER = 'CN=Terrarium proxy';
const DAY_MS = 24 * 60 * 60 * 1_000;
const LIFETIME_DAYS = 365;
/** A lambda that calls random hosts must not fill the memory. */
const MAX_HOSTS = 1_000;

const createKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

/** Issues certificates for hosts. Its key exists only in the memory of this process. */
export class CertificateAuthority {
  readonly certPem: string;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #hostKeys: webcrypto.CryptoKeyPair;
  readonly #hostKeyPem: string;
  readonly #contexts = new Map<string, Promise<SecureContext>>();

  static async create(): Promise<CertificateAuthority> {
    const [keys, hostKeys] = await Promise.all([createKeys(), createKeys()]);
    const certPem = await issue(ISSUER, keys, keys.publicKey, [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ]);
    const exported = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', hostKeys.privateKey)).toString('base64');
    const hostKeyPem = `-----BEGIN PRIVATE KEY-----\n${exported}\n-----END PRIVATE KEY-----\n`;
    return new CertificateAuthority(certPem, keys, hostKeys, hostKeyPem);
  }

  private constructor(
    certPem: string,
    keys: webcrypto.CryptoKeyPair,
    hostKeys: webcrypto.CryptoKeyPair,
    hostKeyPem: string,
  ) {
    this.certPem = certPem;
    this.#keys = keys;
    this.#hostKeys = hostKeys;
    this.#hostKeyPem = hostKeyPem;
  }

  /** Returns the certificate and key of a TLS server of this host; `hostname` is a name or an address without brackets. */
  contextFor(hostname: string): Promise<SecureContext> {
    const context = this.#contexts.get(hostname);
    if (context) return context;
    if (this.#contexts.size >= MAX_HOSTS) this.#contexts.clear();
    const created = this.#createContext(hostname);
    this.#contexts.set(hostname, created);
    return created;
  }

  async #createContext(hostname: string): Promise<SecureContext> {
    // A common name has at most 64 characters; clients look at the alternative name only.
    const cert = await issue('CN=Terrarium', this.#keys, this.#hostKeys.publicKey, [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(hostname) ? 'ip' : 'dns', value: hostname }]),
    ]);
    return createSecureContext({ key: this.#hostKeyPem, cert });
  }
}

/** Python 3.13 and later reject certificates without both key identifiers. */
async function issue(
  subject: string,
  issuerKeys: webcrypto.CryptoKeyPair,
  publicKey: webcrypto.CryptoKey,
  extensions: Extension[],
): Promise<string> {
  const nowMs = machineMs(); // programs keep the machine's time
  const certificate = await X509CertificateGenerator.create({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    subject,
    issuer: ISSUER,
    notBefore: new Date(nowMs - DAY_MS),
    notAfter: new Date(nowMs + LIFETIME_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    publicKey,
    signingKey: issuerKeys.privateKey,
    extensions: [
      ...extensions,
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(issuerKeys.publicKey),
    ],
  });
  return certificate.toString('pem');
}
