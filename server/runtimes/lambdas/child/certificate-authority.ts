import { KeyObject, webcrypto } from 'node:crypto';
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

/** Issues certificates for hosts. */
export interface CertificateAuthority {
  /** The certificate that clients have to trust. */
  certPem: string;
  /** Returns the certificate and key of a TLS server of this host; `hostname` is a name or an address without brackets. */
  contextFor(hostname: string): Promise<SecureContext>;
}

/** Its key exists only in the memory of this process. */
export async function createAuthority(): Promise<CertificateAuthority> {
  const [keys, hostKeys] = await Promise.all([createKeys(), createKeys()]);
  const certPem = await issue(ISSUER, keys, keys.publicKey, [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ]);
  const key = KeyObject.from(hostKeys.privateKey).export({ format: 'pem', type: 'pkcs8' });
  const contexts = new Map<string, Promise<SecureContext>>();
  const createContext = async (hostname: string): Promise<SecureContext> => {
    // A common name has at most 64 characters; clients look at the alternative name only.
    const cert = await issue('CN=Terrarium', keys, hostKeys.publicKey, [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(hostname) ? 'ip' : 'dns', value: hostname }]),
    ]);
    return createSecureContext({ key, cert });
  };
  return {
    certPem,
    contextFor(hostname) {
      const context = contexts.get(hostname) ?? createContext(hostname);
      if (contexts.size >= MAX_HOSTS && !contexts.has(hostname)) contexts.clear();
      contexts.set(hostname, context);
      return context;
    },
  };
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
