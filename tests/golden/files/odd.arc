filedesc://test.arc 0.0.0.0 20040105000000 text/plain 66
1 0 Test
URL IP-address Archive-date Content-type Archive-length


http://example.org/ 192.0.2.1 20040105000000 text/html 54
HTTP/1.1 200 OK
Content-Type: text/html

<p>one</p>
http://example.org/with blank 192.0.2.1 20040105000000 text/html 56
HTTP/1.1 200 OK
Content-Type: text/html

<p>two

</p>
http://example.org/v6 2001:db8::1 20040105000000 text/html 20
HTTP/1.0 200 OK

six
dns:example.org - 20040105000000 text/dns 29
20040105000000
example.org. A
http://example.org/nomime 192.0.2.1 2004010500  17
HTTP/1.0 404 No


