// SPDX-License-Identifier: Apache-2.0
// Finds problems for readers on the open page, and returns them as a list of sentences. The browser runs this script. The
// page itself has no script.
(() => {
  const found = []
  const report = (rule, element, text) => {
    const name = element.id ? `#${element.id}` : element.className?.baseVal ?? element.className
    found.push(`${rule}: <${element.localName} ${name}> ${text}`.trim())
  }
  const all = (selector, root = document) => [...root.querySelectorAll(selector)]
  const words = element => element.textContent.trim().replace(/\s+/g, " ").slice(0, 60)

  // The page must state its language, a title, and exactly one main part. It must contain nothing active.
  if (!/^[a-z]{2}(-[A-Za-z]+)?$/.test(document.documentElement.lang)) report("language", document.documentElement, "")
  if (!document.title.trim()) report("title", document.head, "")
  if (all("main").length !== 1) report("main", document.body, `${all("main").length}`)
  if (!document.querySelector('meta[name=viewport][content*="width=device-width"]')) report("viewport", document.head, "")
  for (const element of all("script,iframe,object,embed,img,video,audio,base,form")) report("active", element, "")
  for (const element of all("*")) {
    for (const attribute of element.attributes) {
      if (/^on/.test(attribute.name)) report("active", element, attribute.name)
    }
  }

  // Headings: exactly one of the first level, and no level is skipped.
  let level = 0
  for (const heading of all("h1,h2,h3,h4,h5,h6")) {
    const next = Number(heading.localName[1])
    if (next > level + 1 || (next === 1 && level > 0)) report("heading", heading, words(heading))
    if (!words(heading)) report("heading", heading, "empty")
    level = next
  }
  if (level === 0) report("heading", document.body, "none")

  // Identifiers: each is unique, and each reference exists.
  const ids = new Map()
  for (const element of all("[id]")) {
    if (ids.has(element.id)) report("id", element, "twice")
    ids.set(element.id, element)
  }
  for (const element of all("[aria-labelledby]")) {
    for (const id of element.getAttribute("aria-labelledby").split(" ")) {
      if (!words(ids.get(id) ?? { textContent: "" })) report("name", element, id)
    }
  }

  // Each picture is hidden from a screen reader, which reads its text instead.
  for (const picture of all("svg:not(.patterns)")) {
    const reading = picture.nextElementSibling
    if (picture.getAttribute("aria-hidden") !== "true") report("picture", picture, "not hidden")
    else if (!reading?.matches(".reading") || !words(reading)) report("picture", picture, "without words")
  }

  // Each table has a caption, and each cell has header cells. A table in the text of a picture has only row
  // headers.
  for (const table of all("table")) {
    if (!table.caption || !words(table.caption)) report("caption", table, words(table))
    const isReading = table.closest(".reading")
    const columns = isReading ? all("th[scope=col]", table) : all("thead th", table)
    if (!columns.length && !isReading) report("column", table, "no head")
    for (const head of columns) if (head.scope !== "col" || !words(head)) report("column", table, words(head))
    const count = columns.length || table.rows[0]?.cells.length
    for (const row of all("tbody tr", table).filter(row => !row.contains(columns[0] ?? null))) {
      const head = row.cells[0]
      if (head?.localName !== "th" || head.scope !== "row" || !words(head)) report("row", table, words(row))
      if (row.cells.length !== count) report("cells", table, words(row))
    }
  }

  // Nothing is wider than the screen, except in a scrollable part. Such a part needs keyboard focus and a name.
  const width = document.documentElement.clientWidth
  if (document.scrollingElement.scrollWidth > width) {
    report("overflow", document.body, `${document.scrollingElement.scrollWidth} of ${width}`)
  }
  const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX)
  for (const element of all("body *")) {
    if (element.closest("svg") && element.localName !== "svg" || element.closest("[aria-hidden=true],.reading")) continue
    let inside = element.parentElement
    while (inside && !scrolls(inside)) inside = inside.parentElement
    const box = element.getBoundingClientRect()
    if (!inside && box.width > 0 && box.right > width + 0.5) report("overflow", element, words(element))
    if (scrolls(element) && element.scrollWidth > element.clientWidth + 1) {
      if (element.tabIndex !== 0) report("keyboard", element, words(element))
      const name = element.getAttribute("aria-label") ?? element.getAttribute("aria-labelledby")
      if (!name || !element.getAttribute("role")) report("scrolled", element, words(element))
    }
  }

  // Texts in a picture are inside it, do not overlap, and are large enough to read.
  for (const picture of all("svg[aria-hidden=true]")) {
    const frame = picture.getBoundingClientRect()
    const boxes = all("text", picture).map(text => [text, text.getBoundingClientRect()])
    for (const [text, box] of boxes) {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
        || box.bottom > frame.bottom + 1) report("cut", picture, words(text))
    }
    boxes.forEach(([text, a], index) => {
      for (const [other, b] of boxes.slice(index + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left)
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
        // The box of a line of text is taller than its letters.
        if (across > 1 && down > 0.4 * Math.min(a.height, b.height)) {
          report("covered", picture, `'${words(text)}' and '${words(other)}'`)
        }
      }
    })
    const small = boxes.filter(([, box]) => box.height > 0 && box.height < 10.9)
    if (small.length) report("small", picture, `${small[0][1].height.toFixed(1)} px`)
  }

  // Contrast (WCAG 2.2): 4.5 for text, 3 for lines and marks.
  const channels = color => (color.match(/[\d.]+/g) ?? []).map(Number)
  const light = color => {
    const [r, g, b] = channels(color).map(c => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((x, y) => y - x)
    return (x + 0.05) / (y + 0.05)
  }
  const backdrop = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (channels(color)[3] !== 0) return color
    }
    return "rgb(255,255,255)"
  }
  const told = new Set()
  const compare = (element, color, ground, least, what) => {
    const ratio = contrast(color, ground)
    const sentence = `${what} ${color} on ${ground}: ${ratio.toFixed(2)} of ${least}`
    if (ratio < least && !told.has(sentence)) report("contrast", element, sentence)
    told.add(sentence)
  }
  for (const element of all("body *")) {
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())
    if (!hasText || element.closest("svg")) continue
    compare(element, getComputedStyle(element).color, backdrop(element), 4.5, "text")
  }
  const fill = selector => document.querySelector(selector) && getComputedStyle(document.querySelector(selector)).fill
  const paper = backdrop(document.body)
  for (const text of all("svg[aria-hidden=true] text")) compare(text, getComputedStyle(text).fill, backdrop(text), 4.5, "text")
  const grounds = {
    ".s-curve": [paper, fill(".f-band")], ".s-limit": [paper, fill(".f-band"), fill(".f-tails")], ".s-line": [paper],
    ".s-text": [paper],
  }
  for (const [selector, colors] of Object.entries(grounds)) {
    for (const line of all(`svg[aria-hidden=true] ${selector}`).slice(0, 1)) {
      for (const color of colors.filter(Boolean)) compare(line, getComputedStyle(line).stroke, color, 3, selector)
    }
  }
  for (const selector of ["circle.f-text", "path.f-rapid", "path.f-basal", "path.f-food"]) {
    const mark = document.querySelector(`svg[aria-hidden=true] ${selector}`)
    if (mark) compare(mark, getComputedStyle(mark).fill, paper, 3, selector)
  }
  return found
})()
