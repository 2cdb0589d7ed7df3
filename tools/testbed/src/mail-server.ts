import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface ReceivedMail {
  to: string[]
  text: string
}

/** Starts a mail server of the registry on loopback, which collects what it gets. */
export async function startMailServer() {
  const received: ReceivedMail[] = []
  const waiting: (() => void)[] = []
  let refusals = 0
  let held: { arrived: () => void; released: Promise<void> } | null = null
  const refusedRecipients = new Map<string, { times: number; status: number }>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      const refused = refusedRecipients.get(address)
      if (refused === undefined || refused.times-- <= 0) return done()
      done(Object.assign(new Error('no such mailbox now'), { responseCode: refused.status }))
    },
    onData(stream, session, done) {
      let raw = ''
      stream.on('data', (part: Buffer) => (raw += part.toString()))
      stream.on('end', async () => {
        const isRefused = refusals-- > 0
        held?.arrived()
        await held?.released
        if (isRefused) return done(Object.assign(new Error('try later'), { responseCode: 451 }))
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: raw.replaceAll('=\r\n', '').replaceAll('=3D', '='),
        })
        done()
        for (const wake of waiting.splice(0)) wake()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    refuse: (times: number) => void (refusals = times),
    /** Answers no mail until it is released. `arrived` resolves once there is one. */
    hold() {
      const [arrival, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      held = { arrived: arrival.resolve, released: release.promise }
      return { arrived: arrival.promise, release: () => ((held = null), release.resolve()) }
    },
    /** Refuses one recipient of the next mails, and takes the mail for the others. */
    refuseRecipient: (address: string, times: number, status = 450) =>
      void refusedRecipients.set(address, { times, status }),
    /** Resolves with the mails to an address once there are this many. */
    async mailsTo(address: string, count = 1): Promise<string[]> {
      for (;;) {
        const mails = received.filter(({ to }) => to.includes(address)).map(({ text }) => text)
        if (mails.length >= count) return mails
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    /** Number of mails to an address so far. */
    count: (address: string) => received.filter(({ to }) => to.includes(address)).length,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
