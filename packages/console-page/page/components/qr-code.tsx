import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'

const QUIET_ZONE = 4

/** QR code, black on white in both schemes, because cameras read it that way. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const size = code.size + 2 * QUIET_ZONE
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${size} ${size}`}>
      <path d={toSvgPath(code)} />
    </svg>
  )
}
