import { useEffect, useRef, useState } from 'react'

const WIDEST = 160

/** A `data:` image drawn on a canvas, because the content security policy blocks `data:` URLs. */
export function ShownImage({ url, label }: { url: string; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    let isLeft = false
    draw(url, () => (isLeft ? null : canvas.current)).catch(() => setBroken(true))
    return () => {
      isLeft = true
    }
  }, [url])
  return isBroken ? (
    <span className="soft small">{label} can't be displayed.</span>
  ) : (
    <canvas ref={canvas} role="img" aria-label={label} className="playground-image" />
  )
}

async function draw(url: string, canvasNow: () => HTMLCanvasElement | null): Promise<void> {
  const [head = '', data = ''] = url.split(',')
  const bytes = Uint8Array.from(atob(data), (character) => character.codePointAt(0)!)
  const image = await createImageBitmap(new Blob([bytes], { type: head.slice('data:'.length, head.indexOf(';')) }))
  const canvas = canvasNow()
  if (!canvas) return
  const scale = Math.min(1, WIDEST / Math.max(image.width, image.height))
  canvas.width = Math.max(1, Math.round(image.width * scale))
  canvas.height = Math.max(1, Math.round(image.height * scale))
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
}
