import type { Environment } from '@gateway/service-kit/process/config'
import type { ProviderConfig } from '@gateway/providers/provider-config'
import type { MetricsPorts, StackPorts } from './stack-ports.ts'
import type { StackSecrets } from './stack-secrets.ts'

/** One entry of `PROVIDERS`, whose other fields have their defaults. */
export type ProviderEntry = { [Kind in ProviderConfig['kind']]: EntryOf<Kind> }[ProviderConfig['kind']]

type EntryOf<Kind extends ProviderConfig['kind']> = Pick<ProviderConfig, 'baseUrl'> &
  Partial<Extract<ProviderConfig, { kind: Kind }>> & { kind: Kind }

export interface StackFacts {
  /** Where the gateway listens; everything else listens on 127.0.0.1. */
  host: string
  ports: StackPorts
  /** Ports of /metrics, for this machine only. */
  metricsPorts: MetricsPorts
  secrets: StackSecrets
  /** Login of the role svc_ledger. */
  ledgerDatabaseUrl: string
  /** Login of the role svc_console. */
  consoleDatabaseUrl: string
  redisUrl: string
  /** Where gateway, worker and console store the bytes of assets; an absolute path. */
  assetsFolder: string
  providers: Record<string, ProviderEntry>
  /** Values of the variables that `apiKeyEnv` names. */
  providerKeys: Record<string, string>
  logLevel: string
  otlpEndpoint: string | undefined
}

/**
 * The complete environment of each program: of the starter's environment only what `inherited` picks is passed on.
 *
 * All: HOST, PORT, METRICS_PORT where it has metrics, LOG_LEVEL, STOP_WITH_PARENT, OTEL_EXPORTER_OTLP_ENDPOINT.
 * Ledger: DATABASE_URL, REDIS_URL, SERVICE_PUBLIC_KEYS_GATEWAY, …_WORKER, …_CONSOLE, WEBHOOK_KEY, PUBLIC_URL as for the console,
 *   WEBHOOK_PRIVATE_ADDRESSES, unless the gateway is open to other machines: webhooks are usually tried with a server on
 *   this machine, whose ports no one else should reach by them.
 * Gateway: LEDGER_URL, SERVICE_PRIVATE_KEY, REDIS_URL, CONSOLE_URL, ASSETS_FOLDER, PROVIDERS and the keys that it names.
 * Worker: LEDGER_URL, SERVICE_PRIVATE_KEY, REDIS_URL, ASSETS_FOLDER, PROVIDERS and the keys that it names.
 * Console: DATABASE_URL, LEDGER_URL, SERVICE_PRIVATE_KEY, SECOND_FACTOR_KEY, CAPTURE_KEY, ASSETS_FOLDER, PUBLIC_URL where the gateway is on this
 *   machine alone.
 */
export function serviceEnvironments(facts: StackFacts): Record<keyof StackPorts, Record<string, string>> {
  const { ports, secrets } = facts
  const common = (port: number, host = '127.0.0.1') => ({
    HOST: host,
    PORT: String(port),
    LOG_LEVEL: facts.logLevel,
    STOP_WITH_PARENT: '1',
    ...(facts.otlpEndpoint && { OTEL_EXPORTER_OTLP_ENDPOINT: facts.otlpEndpoint }),
  })
  const measured = (program: keyof MetricsPorts) => ({ METRICS_PORT: String(facts.metricsPorts[program]) })
  const ledgerUrl = `http://127.0.0.1:${ports.ledger}`
  const providers = {
    PROVIDERS: JSON.stringify(facts.providers),
    ...facts.providerKeys,
    ASSETS_FOLDER: facts.assetsFolder,
  }

  // For links and commands. On any other host, only the operator knows the public address.
  const publicUrl = isLoopback(facts.host) && { PUBLIC_URL: gatewayUrl(facts.host, ports.gateway) }

  return {
    provider: common(ports.provider),
    ledger: {
      ...common(ports.ledger),
      ...measured('ledger'),
      DATABASE_URL: facts.ledgerDatabaseUrl,
      REDIS_URL: facts.redisUrl,
      SERVICE_PUBLIC_KEYS_GATEWAY: secrets.services.gateway.publicKey,
      SERVICE_PUBLIC_KEYS_WORKER: secrets.services.worker.publicKey,
      SERVICE_PUBLIC_KEYS_CONSOLE: secrets.services.console.publicKey,
      WEBHOOK_KEY: secrets.webhooks,
      WEBHOOK_PRIVATE_ADDRESSES: String(isLoopback(facts.host)),
      ...publicUrl,
    },
    console: {
      ...common(ports.console),
      ...measured('console'),
      DATABASE_URL: facts.consoleDatabaseUrl,
      ASSETS_FOLDER: facts.assetsFolder,
      LEDGER_URL: ledgerUrl,
      SERVICE_PRIVATE_KEY: secrets.services.console.privateKey,
      SECOND_FACTOR_KEY: secrets.secondFactors,
      CAPTURE_KEY: secrets.capture,
      TRUSTED_PROXIES: 'loopback', // the gateway
      ...publicUrl,
    },
    worker: {
      ...common(ports.worker),
      ...measured('worker'),
      LEDGER_URL: ledgerUrl,
      SERVICE_PRIVATE_KEY: secrets.services.worker.privateKey,
      REDIS_URL: facts.redisUrl,
      ...providers,
    },
    gateway: {
      ...common(ports.gateway, facts.host),
      ...measured('gateway'),
      LEDGER_URL: ledgerUrl,
      SERVICE_PRIVATE_KEY: secrets.services.gateway.privateKey,
      REDIS_URL: facts.redisUrl,
      CONSOLE_URL: `http://127.0.0.1:${ports.console}`,
      ...providers,
    },
  }
}

/** The gateway's address from this machine. @param host where it listens */
export function gatewayUrl(host: string, port: number): string {
  const asked = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** The variables of the machine that any program needs to run. */
export function inherited(env: Environment): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
