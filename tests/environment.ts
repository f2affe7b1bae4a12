/**
 * What every test of the product takes out of the environment: certificates of this machine, which
 * an empty Node process reads for three times as long as it takes otherwise. No test needs them.
 */
delete process.env.NODE_EXTRA_CA_CERTS;
