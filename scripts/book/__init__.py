"""Makes the site out of the project's own pages and headers: scripts/build_site.py runs the parts in this folder.

    pages      which pages there are, in which order
    markdown   a page as Doxygen takes it: names for headings, links of the site for links of the repository
    formulas   the notes' Unicode formulas in TeX
    inline     what stands of them in the midst of prose
    html       what Doxygen wrote, in the site's own frame
    search     the words of all pages, for a search that needs no server
"""
