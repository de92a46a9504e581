// SPDX-License-Identifier: Apache-2.0

/// The style of a page: light and dark, on a phone, and on A4 or Letter.
enum PageStyle {
  static let text = """
    :root{color-scheme:light dark;--ink:#1a1a1a;--soft:#555;--paper:#fff;--line:#8a8a8a;--panel:#f3f4f5;--band:#dff0e4;\
    --target:#3f8f5a;--low:#f0b3ab;--very-low:#c0392b;--high:#f7dc9a;--very-high:#b9770e;--mark:#1a1a1a;\
    --curve:#1f4e79;--spread:#c9d9ea;--half:#8fb1d3;--limit:#1f5e38}
    @media (prefers-color-scheme:dark){:root{--ink:#ececec;--soft:#b5b5b5;--paper:#161616;--line:#8a8a8a;--panel:#242424;\
    --band:#1d3a27;--target:#4fa76c;--low:#7d352d;--very-low:#d9574a;--high:#6e5314;--very-high:#dd9a2f;--mark:#fff;\
    --curve:#9cc4ec;--spread:#22364a;--half:#3c5f82;--limit:#8fdca8}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;\
    font-variant-numeric:tabular-nums}
    main{max-width:60rem;margin:0 auto;padding:1rem}
    h1{font-size:1.7rem;margin:.2rem 0}h2{font-size:1.25rem;margin:1.6rem 0 .5rem;border-bottom:1px solid var(--line)}
    h3{font-size:1rem;margin:1rem 0 .2rem}p{margin:.4rem 0;max-width:46rem}
    .notice{border:2px solid var(--ink);padding:.5rem .7rem;font-weight:600}
    dl{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:.8rem 0}dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-weight:600}
    nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:.8rem 0;padding:0;list-style:none}a{color:var(--curve)}
    nav a{display:inline-block;padding:.2rem 0}a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
    .table{overflow-x:auto;margin:.6rem 0}
    table{border-collapse:collapse;font-size:.9rem}caption{text-align:left;color:var(--soft);padding:.2rem 0}
    th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
    thead th{color:var(--soft);font-weight:600}th:first-child{text-align:left;font-weight:600}.dates tbody th{white-space:nowrap}
    thead th{hyphens:auto}
    .text th,.text td{text-align:left}.text tbody th{overflow-wrap:anywhere}.text td{min-width:8em;overflow-wrap:anywhere}
    .picture{overflow-x:auto}.picture svg{display:block;width:100%;min-width:40rem;height:auto}
    .picture svg.small{max-width:18rem;min-width:0}
    #ranges .block{display:flex;flex-wrap:wrap;align-items:center;gap:0 1.5rem}#ranges .picture{flex:1 1 11rem;max-width:18rem}#ranges p{flex:1 0 100%}
    #ranges .table{min-width:0}
    #ranges caption,#sensor .block:first-of-type caption,#devices caption,#left-out caption,#days .text caption{position:absolute;\
    width:1px;height:1px;padding:0;overflow:hidden;clip-path:inset(50%)}
    .patterns{position:absolute}
    svg text{fill:var(--ink);font-size:12px;font-family:inherit}svg text.end{text-anchor:end}svg text.middle{text-anchor:middle}
    .frame{fill:none;stroke:var(--line)}.tick{stroke:var(--line);stroke-width:.5;stroke-opacity:.5}.limit{stroke:var(--limit);stroke-dasharray:4 3}
    .band{fill:var(--band)}.curve{fill:none;stroke:var(--curve);stroke-width:1.8;stroke-linejoin:round}
    .median{fill:none;stroke:var(--curve);stroke-width:2.5;stroke-linejoin:round}
    .tails{fill:var(--spread)}.half{fill:var(--half)}.box{fill:none;stroke:var(--curve)}
    .stick{fill:var(--mark)}.scan{fill:none;stroke:var(--mark)}
    .insulin{fill:var(--curve)}.food{fill:var(--very-high)}.written{fill:var(--soft)}
    .below{fill:var(--low)}.above{fill:var(--high)}
    .b0{fill:url(#cross)}.b1{fill:url(#hatch)}.b2{fill:var(--target)}.b3{fill:url(#grain)}.b4{fill:var(--very-high)}
    .part{stroke:var(--ink);stroke-width:.7}.leader{stroke:var(--line);stroke-width:.7}
    .ground-low{fill:var(--low)}.ground-very-low{fill:var(--very-low)}.ground-high{fill:var(--high)}
    .hatch{stroke:var(--mark);stroke-width:1;fill:none}.grain{fill:var(--mark)}
    @page{size:A4 portrait;margin:12mm}
    @media print{:root{color-scheme:light;--ink:#000;--soft:#333;--paper:#fff;--line:#777;--panel:#f3f4f5;--band:#dff0e4;\
    --target:#3f8f5a;--low:#f0b3ab;--very-low:#c0392b;--high:#f7dc9a;--very-high:#b9770e;--mark:#000;--curve:#1f4e79;\
    --spread:#c9d9ea;--half:#8fb1d3;--limit:#1f5e38}
    *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
    body{font-size:10pt}main{max-width:186mm;padding:0}table{font-size:8.5pt}th,td{padding:.12rem .35rem}.block{break-inside:avoid}h2,h3,caption,thead{break-after:avoid}\
    tr{break-inside:avoid}.page{break-before:page}.table,.picture{overflow:visible}nav{display:none}.picture svg{min-width:0}}
    """
}
