/**
 * The passwords that come along with Terrarium, root's default one and those of the demo's people, and what is stored of them.
 * Everybody knows them, so a salt of their own would hide nothing; worked out beforehand, a first start and a sign-in with one of
 * them cost no hashing, which is most of a start's work and, by what the C library keeps for each thread that hashes, half of the
 * memory of an idle platform. Where other machines are let in these passwords open nothing (`published-passwords.ts`).
 */
export const PUBLISHED: readonly { password: string; user?: string; hash: string }[] = [
  {
    password: 'terrarium',
    hash: 'scrypt$16384$8$1$wL/giVgK0q5Qc92aw5LztQ==$TdBd0kCankXLC+ZovaRp54ryAB6lKkK93l5X4srZuF4=',
  },
  {
    password: 'ada-demo',
    user: 'ada.byrne',
    hash: 'scrypt$16384$8$1$Teo8asCNWYVQYAwU/t/9GQ==$XdCMWkRWT9VWQI6AclUG4hnFmDadA3QlMJfqQyQoV+4=',
  },
  {
    password: 'milo-demo',
    user: 'milo.tanaka',
    hash: 'scrypt$16384$8$1$5u2gDm5FI2wo04D7pUm+Yg==$FBQHLL+Wp70h/BaSCVjDpkI/yoZPx2LAA/dxR7CYFGQ=',
  },
  {
    password: 'ci-demo',
    user: 'ci-service',
    hash: 'scrypt$16384$8$1$V/ipv9CaL118WMRmaDoFcw==$HldwSq0/kAYkUaMSGs6h7josYImZ86Sx4TeuitCj/w0=',
  },
];

/** The stored form of a published password; undefined for every other. */
export const publishedHash = (password: string): string | undefined =>
  PUBLISHED.find((one) => one.password === password)?.hash;
